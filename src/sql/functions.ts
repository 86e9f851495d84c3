/** The functions that queries have besides those of SQLite. Amounts are integers as decimal text, of any size. */
import type { Db } from '../store/open-database.ts';
import { decimalsOf, integerOf, inUnits, shown } from './amounts.ts';
import { QueryRefusal } from './query-refusal.ts';

export interface SqlFunction {
  name: string;
  /** As in a call. */
  signature: string;
  description: string;
}

interface ScalarFunction extends SqlFunction {
  run(...values: unknown[]): string | null;
}

const SCALARS: readonly ScalarFunction[] = [
  {
    name: 'address',
    signature: 'address(x)',
    description: 'an address in any case, with or without 0x, or a blob of 20 bytes, as the tables have it',
    run: nullAsNull(toAddress),
  },
  {
    name: 'units',
    signature: 'units(amount, decimals)',
    description: 'an amount in whole coins or tokens, exact: units(amount, 18)',
    run: (amount, decimals) =>
      amount === null || decimals === null
        ? null
        : inUnits(integerOf(amount, 'units()'), decimalsOf(decimals)),
  },
  {
    name: 'negate',
    signature: 'negate(amount)',
    description: 'an amount with the other sign, exact',
    run: nullAsNull((amount) => (-integerOf(amount, 'negate()')).toString()),
  },
  {
    name: 'plus',
    signature: 'plus(a, b)',
    description: 'a + b, exact',
    run: exact('plus()', (a, b) => a + b),
  },
  {
    name: 'minus',
    signature: 'minus(a, b)',
    description: 'a - b, exact',
    run: exact('minus()', (a, b) => a - b),
  },
  {
    name: 'mul_div',
    signature: 'mul_div(a, b, c)',
    description: 'a * b / c, exact and cut; null where c is 0',
    run: mulDiv,
  },
  {
    name: 'least',
    signature: 'least(a, b, ...)',
    description: 'the lowest of amounts, where min() would compare their texts',
    run: extreme('least()', (a, b) => a < b),
  },
  {
    name: 'greatest',
    signature: 'greatest(a, b, ...)',
    description: 'the highest of amounts',
    run: extreme('greatest()', (a, b) => a > b),
  },
  {
    name: 'to_hex',
    signature: 'to_hex(number)',
    description: 'a number of at least 0 as 0x digits',
    run: nullAsNull(toHex),
  },
  {
    name: 'from_hex',
    signature: 'from_hex(text)',
    description: '0x digits as a decimal number',
    run: nullAsNull(fromHex),
  },
];

const SUM: SqlFunction = {
  name: 'sum_amount',
  signature: 'sum_amount(amount)',
  description: 'the exact sum, also beyond 64 bits; null without rows',
};

export const FUNCTIONS: readonly SqlFunction[] = [SUM, ...SCALARS];

export function defineFunctions(db: Db): void {
  for (const { name, signature, run } of SCALARS)
    db.function(
      name,
      { deterministic: true, safeIntegers: true, varargs: signature.includes('...') },
      withParameters(signature, run),
    );
  db.aggregate<bigint | null>(SUM.name, {
    deterministic: true,
    safeIntegers: true,
    start: () => null,
    step: (sum, value) => (value === null ? sum : (sum ?? 0n) + integerOf(value, 'sum_amount()')),
    inverse: (sum, value) => (value === null ? sum : (sum ?? 0n) - integerOf(value, 'sum_amount()')),
    result: (sum) => sum?.toString() ?? null,
  });
}

/** The driver takes the number of parameters from the function. */
function withParameters(signature: string, run: ScalarFunction['run']): ScalarFunction['run'] {
  const count = signature.split(',').length;
  if (count === 1) return (a) => run(a);
  if (signature.includes('...')) return run;
  return count === 2 ? (a, b) => run(a, b) : (a, b, c) => run(a, b, c);
}

function exact(what: string, run: (a: bigint, b: bigint) => bigint): ScalarFunction['run'] {
  return (a, b) => (a === null || b === null ? null : run(integerOf(a, what), integerOf(b, what)).toString());
}

/** Of any number of amounts, the one that goes before all others. */
function extreme(what: string, isBefore: (a: bigint, b: bigint) => boolean): ScalarFunction['run'] {
  return (...values) => {
    if (values.includes(null)) return null;
    const [first, ...others] = values.map((value) => integerOf(value, what));
    if (first === undefined) throw new QueryRefusal(`${what} takes amounts`);
    return others.reduce((best, value) => (isBefore(value, best) ? value : best), first).toString();
  };
}

function mulDiv(...values: unknown[]): string | null {
  if (values.includes(null)) return null;
  const [a = 0n, b = 0n, c = 0n] = values.map((value) => integerOf(value, 'mul_div()'));
  return c === 0n ? null : ((a * b) / c).toString();
}

function nullAsNull(run: (value: unknown) => string): (value: unknown) => string | null {
  return (value) => (value === null ? null : run(value));
}

function toAddress(value: unknown): string {
  if (value instanceof Uint8Array && value.length === 20) return `0x${Buffer.from(value).toString('hex')}`;
  const [, digits] = (typeof value === 'string' && /^(?:0[xX]|\\x)?([0-9a-fA-F]{40})$/.exec(value)) || [];
  if (digits === undefined)
    throw new QueryRefusal(`address() takes 40 hex digits, with or without 0x, not ${shown(value)}`);
  return `0x${digits.toLowerCase()}`;
}

function toHex(value: unknown): string {
  const number = integerOf(value, 'to_hex()');
  if (number < 0n) throw new QueryRefusal(`to_hex() takes numbers of at least 0, not ${number}`);
  return `0x${number.toString(16)}`;
}

function fromHex(value: unknown): string {
  if (typeof value !== 'string' || !/^0[xX][0-9a-fA-F]+$/.test(value))
    throw new QueryRefusal(`from_hex() takes text such as 0x1f, not ${shown(value)}`);
  return BigInt(value).toString();
}
