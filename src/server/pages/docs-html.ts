/** HTML building blocks of the documentation. */

/** A row of a parameter table, as plain text. */
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

/** A code block to copy; `label` describes it to screen readers. */
export function codeSample(label: string, code: string): string {
  return `<pre tabindex="0" aria-label="${escapeHtml(label)}">${escapeHtml(code)}</pre>`;
}

/** Escapes text for elements and quoted attributes. */
export function escapeHtml(plain: string): string {
  return plain.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
