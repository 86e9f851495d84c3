/** CSV cells (RFC 4180) that a spreadsheet shows as text. Everything that writes CSV uses this. */

/** The start of a formula for some spreadsheet: full-width signs are converted; tabs, line breaks and marks skipped. */
const FORMULA_START = /^[=+\-@\t\r\n\uFEFF\uFF1D\uFF0B\uFF0D\uFF20]/;

const NUMBER = /^-?\d+(\.\d+)?$/;

const NEEDS_QUOTES = /[",\r\n]/;

/**
 * A value as a cell: empty for none, times in ISO 8601. Names come from strangers, so a text that starts like a formula
 * gets an apostrophe before it. Numbers stay as they are.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = value instanceof Date ? value.toISOString() : String(value);
  const safe = FORMULA_START.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Values as a line, without its end. */
export function csvLine(values: readonly unknown[]): string {
  return values.map(csvCell).join();
}
