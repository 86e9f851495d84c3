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
  return table(
    ['Parameter', 'Values', 'Default', 'Meaning'],
    parameters.map(({ name, values, byDefault, meaning }) => [name, values, byDefault, meaning]),
  );
}

/** A table of plain text whose first column is code. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const body = rows.map(([name = '', ...cells]) => {
    const others = cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('');
    return `<tr><th scope="row"><code>${escapeHtml(name)}</code></th>${others}</tr>`;
  });
  return `<table>
<thead><tr>${titles.map((title) => `<th scope="col">${title}</th>`).join('')}</tr></thead>
<tbody>
${body.join('\n')}
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
