/** What the sections of the documentation are made of, as HTML. */

/** A row of a table of parameters; nothing in it is HTML yet. */
export interface ParameterRow {
  name: string;
  values: string;
  /** `required`, the default, or empty. */
  byDefault: string;
  meaning: string;
}

export function parameterTable(parameters: readonly ParameterRow[]): string {
  const rows = parameters.map(
    ({ name, values, byDefault, meaning }) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${escapeHtml(values)}</td><td>${escapeHtml(byDefault)}</td><td>${escapeHtml(meaning)}</td></tr>`,
  );
  return `<table>
<thead><tr><th scope="col">Parameter</th><th scope="col">Values</th><th scope="col">Default</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}

/** Something to copy; `label` says what it is to those who do not see it. */
export function codeSample(label: string, code: string): string {
  return `<pre tabindex="0" aria-label="${escapeHtml(label)}">${escapeHtml(code)}</pre>`;
}

/** Text as it stands in HTML, in elements and in quoted attributes. */
export function escapeHtml(plain: string): string {
  return plain.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
