/** Recognises comparisons of a column with a value that it never has, which give no rows, or all. */

import { NATIVE_TYPE } from '../../model/trade-columns.ts';
import { TRADE_KINDS } from '../../model/trade-kind.ts';
import { TOKEN_KIND_NAMES, TRANSFER_KIND_NAMES } from '../../model/transfer-kind.ts';
import { comparisonsIn } from '../text/expressions.ts';
import { isWord, type Node, splitAtCommas } from '../text/nodes.ts';
import type { FindColumn } from './computed-columns.ts';
import { spelledAsStored } from './literals.ts';
import { isTime } from './outputs.ts';
import type { Origin } from './scope.ts';

/** Columns of few values. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  transfer_type: TRANSFER_KIND_NAMES,
  token_type: [NATIVE_TYPE, ...TOKEN_KIND_NAMES],
  quote_type: [NATIVE_TYPE, ...TOKEN_KIND_NAMES],
  kind: TRADE_KINDS,
};

const ADDRESS = /^0x[0-9a-f]{40}$/;
const ZERO = `0x${'0'.repeat(40)}`;
const HASH = /^0x[0-9a-f]{64}$/;
const TIME = /^\d{4}(?:-\d\d(?:-\d\d(?: \d\d(?::\d\d(?::\d\d)?)?)?)?)?$/;
/** Of native coins these are null. */
const TOKENS = ['token_address', 'quote_address'];

export function* oddComparisons(condition: readonly Node[], find: FindColumn): Generator<string> {
  for (const comparison of comparisonsIn(condition)) {
    const origin = find(comparison.left);
    if (origin === null) continue;
    const values = comparison.op === 'in' ? splitAtCommas(comparison.list.nodes) : [comparison.value];
    const isRange = comparison.op === 'min' || comparison.op === 'max';
    for (const value of values) {
      const note = isTime(origin) ? timeNote(origin, value) : isRange ? null : valueNote(origin, value);
      if (note !== null) yield note;
    }
  }
}

function timeNote({ column }: Origin, value: readonly Node[]): string | null {
  const [only, more] = value;
  const seconds = only?.kind === 'number' && more === undefined ? only.value : null;
  if (seconds !== null || isWord(only, 'unixepoch', 'julianday'))
    return (
      `compares ${column}, which is text, with a number, and any text comes after any number: ` +
      `write datetime(${seconds ?? 'x'}, 'unixepoch')`
    );
  if (only?.kind !== 'string' || more !== undefined || TIME.test(spelledAsStored(only.value))) return null;
  return `compares ${column} with ${shown(only.value)}, which is no time such as 2026-11-21 08:00:00, in UTC`;
}

function valueNote({ column }: Origin, [only, more]: readonly Node[]): string | null {
  if (only?.kind !== 'string' || more !== undefined) return null;
  const value = spelledAsStored(only.value);
  const known = VALUES[column];
  if (known !== undefined)
    return known.includes(value)
      ? null
      : `no row has the ${column} ${shown(value)}: it is one of ${known.join(', ')}`;
  if (TOKENS.includes(column) && (value === ZERO || value === ''))
    return `of native coins ${column} is null: write ${column} IS NULL`;
  if (column.endsWith('address') || column === 'first_funder')
    return ADDRESS.test(value)
      ? null
      : `no row has the ${column} ${shown(value)}: an address is 0x and 40 digits`;
  return !column.endsWith('hash') || HASH.test(value)
    ? null
    : `no row has the ${column} ${shown(value)}: a hash is 0x and 64 digits`;
}

function shown(value: string): string {
  return `"${value.length > 40 ? `${value.slice(0, 40)}...` : value}"`;
}
