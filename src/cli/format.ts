/** Tables, numbers, durations and sizes as text. */

import { isColourless } from '../lib/text.ts';

/** Colours on a terminal. */
const CODES = { red: 31, green: 32, yellow: 33, dim: 2 } as const;

type Colour = keyof typeof CODES;

/** Colours a text, or returns it unchanged if colours are off. */
export type Paint = (colour: Colour, text: string) => string;

export const plain: Paint = (_, text) => text;

/** Colours for a stream if it is a terminal that supports them. */
export function paintFor(out: { isTTY?: boolean }): Paint {
  if (!out.isTTY || isColourless()) return plain;
  return (colour, text) => `\x1b[${CODES[colour]}m${text}\x1b[0m`;
}
/** Rows under headings, with columns two spaces apart and numbers right-aligned. */
export function formatTable(headings: string[], rows: (string | number)[][]): string {
  const cells = [
    headings,
    ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatNumber(cell) : cell))),
  ];
  const isNumeric = (column: number) =>
    rows.length > 0 && rows.every((row) => typeof row[column] === 'number');
  return alignColumns(cells, isNumeric).join('\n');
}

/** Rows of cells as lines, with columns two spaces apart. */
export function alignColumns(
  cells: readonly (readonly string[])[],
  isAtRight: (column: number) => boolean,
): string[] {
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) =>
    isAtRight(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return cells.map((row) => row.map(pad).join('  ').trimEnd());
}

/**
 * Groups of pairs, separated by empty lines, with all values in one column. Values that exceed `columns` characters
 * continue on the next line.
 */
export function formatGroups(
  groups: readonly (readonly (readonly [string, string])[])[],
  columns = 80,
): string {
  const width = Math.max(...groups.flat().map(([name]) => name.length)) + 2;
  const lines = ([name, value]: readonly [string, string]) =>
    wrap(value, columns - width).map((line, i) => (i === 0 ? name : '').padEnd(width) + line);
  return groups
    .filter((group) => group.length > 0)
    .map((group) => group.flatMap(lines).join('\n'))
    .join('\n\n');
}

/**
 * Lines of at most `columns` visible characters, broken at spaces but not within quotes, which may hold a command to
 * paste. A longer word gets its own line.
 */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let length = 0;
  for (const word of text.match(/"[^"]*"\S*|\S+/g) ?? ['']) {
    const visible = word.replace(/\p{Cc}\[\d+m/gu, '').length;
    if (lines.length > 0 && length + 1 + visible <= columns) {
      lines[lines.length - 1] += ` ${word}`;
      length += 1 + visible;
    } else {
      lines.push(word);
      length = visible;
    }
  }
  return lines;
}

/** A number with thousands separators. Without Intl, which takes 25 ms to load. */
export function formatNumber(value: number): string {
  const digits = value.toFixed(value < 10 ? 1 : 0).replace(/\.0$/, '');
  return digits.replace(/\B(?=(?:\d{3})+(?!\d))/g, ',');
}

/** A span of time in its two largest units. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  const [d, h, min, s] = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3_600) % 24,
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  if (d > 0) return `${formatNumber(d)} d ${h} h`;
  if (h > 0) return `${h} h ${min} min`;
  return min > 0 ? `${min} min ${s} s` : `${s} s`;
}

export function formatBytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  return `${formatNumber(count / 1024 ** step)} ${units[step]}`;
}
