/** Rows that are no list of the API as CSV. */
import { csvLine } from '../../lib/csv.ts';

/** Rows as the API would write them: lists and objects as JSON. */
export function csvOfRows(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cells = rows.map((row) =>
    names.map((name) => {
      const value: unknown = Reflect.get(row, name);
      return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    }),
  );
  return [names, ...cells].map((line) => `${csvLine(line)}\n`).join('');
}
