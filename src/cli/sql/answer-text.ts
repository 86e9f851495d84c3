/** An answer of a query as text: a table, JSON or CSV, and what to know about it. */
import { csvLine } from '../../lib/csv.ts';
import type { QueryAnswer, Value } from '../../sql/session.ts';
import { uniqueNames } from '../../sql/unique-names.ts';
import { alignColumns, formatNumber } from '../format.ts';

export const FORMATS = ['table', 'json', 'csv'] as const;
export type AnswerFormat = (typeof FORMATS)[number];

export function answerText(answer: QueryAnswer, format: AnswerFormat): string {
  if (format === 'json') return jsonText(answer);
  const { columns, rows } = answer;
  return format === 'csv' ? [columns, ...rows].map(csvLine).join('\n') : tableText(columns, rows);
}

function tableText(columns: readonly string[], rows: readonly Value[][]): string {
  const isNumeric = (column: number) =>
    rows.length > 0 && rows.every((row) => typeof row[column] === 'number' || row[column] === null);
  const cells = rows.map((row) => row.map((value) => (value === null ? 'null' : printable(String(value)))));
  return alignColumns([columns.map(printable), ...cells], isNumeric).join('\n');
}

/** Names of tokens come from strangers: a control character would reach the terminal, a line break the next row. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

function jsonText({ columns, rows, cut, head, gaps, damage }: QueryAnswer): string {
  const names = uniqueNames(columns);
  const records = rows.map((row) => Object.fromEntries(row.map((value, i) => [names[i], value])));
  return JSON.stringify(
    { columns: names, rows: records, count: rows.length, cut, head, gaps, damage },
    null,
    2,
  );
}

/** The line under an answer. `limit`: most rows asked for. */
export function answerNote({ rows, head, cut, gaps, damage }: QueryAnswer, seconds: number): string {
  const count = `${formatNumber(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}`;
  return [
    `${count} as of block ${formatNumber(head.number)} (${head.hash.slice(0, 10)}), ` +
      `${seconds.toFixed(seconds < 10 ? 2 : 0)} s`,
    ...(cut === 'rows' ? ['more rows were cut: raise --limit, or use LIMIT'] : []),
    ...(cut === 'bytes' ? ['more rows were cut, because they take more than 16 MiB'] : []),
    gaps === 0 ? 'no trace gaps' : `${formatNumber(gaps)} blocks lack transfers (atlas-node status)`,
    ...(damage === null ? [] : [`the index is damaged: ${damage}`]),
  ].join('; ');
}
