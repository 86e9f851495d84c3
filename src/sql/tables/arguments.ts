/** The arguments of a table: what the query compares its columns with. They narrow what is read, never too far. */
import { isoToMilliseconds } from '../../lib/time.ts';
import { EITHER_SIDE, type Op, type Parameter } from './shape.ts';

export type Arguments = Readonly<Record<string, Partial<Record<Op, unknown>>>>;

/** By column and operator. */
export function argumentsOf(parameters: readonly Parameter[], values: readonly unknown[]): Arguments {
  const found: Record<string, Partial<Record<Op, unknown>>> = {};
  for (const [i, { column, op }] of parameters.entries())
    found[column] = { ...found[column], [op]: values[i] };
  return found;
}

const ADDRESS = /^0x[0-9a-f]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;

/** The addresses that a column must equal one of; undefined where the query does not say. */
export function addressesIn(args: Arguments, column: string): string[] | undefined {
  return textsIn(args, column)?.filter((text) => ADDRESS.test(text));
}

export function hashesIn(args: Arguments, column: string): string[] | undefined {
  return textsIn(args, column)?.filter((text) => HASH.test(text));
}

/** The integers that a column must equal one of. */
export function integersIn(args: Arguments, column: string): number[] | undefined {
  const found = valuesIn(args, column)?.map((value) => (typeof value === 'string' ? Number(value) : value));
  return found?.filter((value) => typeof value === 'number').filter(Number.isSafeInteger);
}

/** Lowest and highest value of an integer column, both included. */
export function boundsIn(args: Arguments, column: string): { min: number; max: number } {
  const exact = integersIn(args, column);
  const { min, max } = args[column] ?? {};
  return {
    min: Math.max(typeof min === 'number' ? Math.ceil(min) : 0, exact ? Math.min(...exact) : 0),
    max: Math.min(
      typeof max === 'number' ? Math.floor(max) : Number.MAX_SAFE_INTEGER,
      exact ? Math.max(...exact) : Number.MAX_SAFE_INTEGER,
    ),
  };
}

const TIME = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?$/;

/** Earliest and latest time, Unix seconds. Undefined where a text is no time: the query compares it as text. */
export function timesIn(args: Arguments, column: string): { since?: number; until?: number } {
  const { eq, min, max } = args[column] ?? {};
  const since = secondsOf(eq ?? min);
  const until = secondsOf(eq ?? max);
  return {
    ...(since !== undefined && { since: Math.floor(since) }),
    // "12:30" comes before "12:30:59" as text, but "12:30:59.5" after it.
    ...(until !== undefined && { until: Math.ceil(until) }),
  };
}

function secondsOf(value: unknown): number | undefined {
  const [, day, minute = '00:00', seconds = ':00'] = TIME.exec(typeof value === 'string' ? value : '') ?? [];
  const ms = day === undefined ? Number.NaN : isoToMilliseconds(`${day}T${minute}${seconds}Z`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}

/** Text as SQLite writes it: `2026-11-21 08:00:00`. */
export function timeText(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ');
}

/** The texts that a column must equal one of; undefined where the query does not say. */
export function textsIn(args: Arguments, column: string): string[] | undefined {
  return valuesIn(args, column)?.filter((value) => typeof value === 'string');
}

/** Distinct values. */
function valuesIn(args: Arguments, column: string): unknown[] | undefined {
  const given = args[column];
  if (given === undefined) return undefined;
  if (given.eq !== undefined) return [given.eq];
  if (typeof given.in !== 'string') return undefined;
  const list: unknown = JSON.parse(given.in);
  return Array.isArray(list) ? [...new Set(list)] : undefined;
}

/** Addresses of a side of transfers. */
export function sidesIn(args: Arguments) {
  return {
    from: addressesIn(args, 'from_address'),
    to: addressesIn(args, 'to_address'),
    either: addressesIn(args, EITHER_SIDE),
  };
}
