/**
 * Decodes the arguments of calls, events and errors. The data is anybody's: every read is within it, what is produced
 * is bounded, and data that is not what the declaration says yields null.
 */
import type { AbiParam, AbiType, Declaration } from './declaration.ts';
import { headWords } from './declaration.ts';

/** An integer or hex as text, a bool, the items of an array, or the members of a tuple. */
export type AbiValue = string | boolean | AbiValue[] | DecodedArg[];

export interface DecodedArg {
  /** Empty where the declaration has none. */
  name: string;
  type: string;
  value: AbiValue;
}

/** Most bytes that are decoded of one call or event. */
export const MAX_DECODED_BYTES = 128 * 1024;

/** Most bytes of one value of type bytes or string that are given; a longer one ends with an ellipsis. */
const MAX_VALUE_BYTES = 4 * 1024;

/** Most values of one declaration, and most characters of them: many places may point to the same data. */
const MAX_VALUES = 4_096;
const MAX_CHARACTERS = 256 * 1024;

const WORD = 64;

/** What may still be produced. The calls within one call share it. */
export interface DecodeBudget {
  values: number;
  characters: number;
}

export function newDecodeBudget(): DecodeBudget {
  return { values: MAX_VALUES, characters: MAX_CHARACTERS };
}

/** Thrown within this file for data that is something else. */
class Mismatch extends Error {
  override name = 'Mismatch';
}

/** The arguments in encoded data, hex digits without prefix; null where it does not hold them. More may follow them. */
export function decodeArgs(
  params: readonly AbiParam[],
  digits: string,
  budget = newDecodeBudget(),
): DecodedArg[] | null {
  if (digits.length > 2 * MAX_DECODED_BYTES) return null;
  return orNull(() => new AbiReader(digits, budget).members(params, 0));
}

/** The arguments of an event; null where its topics or data do not hold them. Data must have nothing else. */
export function decodeEvent(
  { params }: Pick<Declaration, 'params'>,
  topics: readonly string[],
  digits: string,
): DecodedArg[] | null {
  const inData = params.filter(({ isIndexed }) => !isIndexed);
  if (params.length - inData.length !== topics.length - 1 || digits.length > 2 * MAX_DECODED_BYTES)
    return null;
  // Tells apart events that differ only in what is indexed, such as the Transfer of many tokens.
  if (inData.every(({ type }) => !type.isDynamic) && digits.length !== WORD * headWords(inData)) return null;
  return orNull(() => {
    const reader = new AbiReader(digits);
    const values = reader.members(inData, 0);
    let [topic, value] = [1, 0];
    return params.map((param) =>
      param.isIndexed ? indexedArg(param, (topics[topic++] ?? '').slice(2)) : values[value++]!,
    );
  });
}

/** An indexed value that does not fit a topic is there as its hash. */
function indexedArg({ name, type }: AbiParam, digits: string): DecodedArg {
  if (digits.length !== WORD) throw new Mismatch('a topic is no word');
  const isHash = type.isDynamic || type.kind === 'array' || type.kind === 'tuple';
  const value = isHash ? `0x${digits}` : new AbiReader(digits).value(type, 0, 0);
  return { name, type: type.text, value };
}

function orNull<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch (error) {
    if (error instanceof Mismatch) return null;
    throw error;
  }
}

class AbiReader {
  private readonly digits: string;
  private readonly left: DecodeBudget;

  constructor(digits: string, budget = newDecodeBudget()) {
    this.digits = digits;
    this.left = budget;
  }

  /** The parameters whose head begins at a digit. What dynamic ones point to is counted from there. */
  members(params: readonly AbiParam[], start: number): DecodedArg[] {
    let head = start;
    return params.map(({ name, type }) => {
      const value = this.value(type, head, start);
      head += WORD * type.words;
      return { name, type: type.text, value };
    });
  }

  /** The value whose head is at a digit of the part that begins at `start`. */
  value(type: AbiType, head: number, start: number): AbiValue {
    if (--this.left.values < 0) throw new Mismatch('too many values');
    const at = type.isDynamic ? start + 2 * this.size(head) : head;
    switch (type.kind) {
      case 'tuple':
        return this.members(type.members, at);
      case 'array':
        return this.array(type.item, type.length, at);
      case 'bytes':
      case 'string':
        return this.counted(this.bytes(type.kind, at));
      default:
        return this.counted(inWord(type, this.word(at)));
    }
  }

  private array(item: AbiType, fixed: number | null, at: number): AbiValue[] {
    const start = fixed === null ? at + WORD : at;
    const length = fixed ?? this.size(at);
    // Also bounds items that take no data at all.
    if (length > this.left.values) throw new Mismatch('too many values');
    return Array.from({ length }, (_, i) => this.value(item, start + i * WORD * item.words, start));
  }

  private bytes(kind: 'bytes' | 'string', at: number): string {
    const length = this.size(at);
    const start = at + WORD;
    if (start + 2 * length > this.digits.length) throw new Mismatch('bytes end after the data');
    const given = this.digits.slice(start, start + 2 * Math.min(length, MAX_VALUE_BYTES));
    const end = length > MAX_VALUE_BYTES ? '…' : '';
    return (kind === 'bytes' ? `0x${given}` : Buffer.from(given, 'hex').toString('utf8')) + end;
  }

  /** A length or an offset in bytes, which must lie within the data. */
  private size(at: number): number {
    const word = this.word(at);
    const size = /^0{56}/.test(word) ? Number.parseInt(word.slice(56), 16) : Number.POSITIVE_INFINITY;
    if (2 * size > this.digits.length) throw new Mismatch('a size exceeds the data');
    return size;
  }

  private word(at: number): string {
    if (at + WORD > this.digits.length) throw new Mismatch('a word ends after the data');
    return this.digits.slice(at, at + WORD);
  }

  private counted<T extends string | boolean>(value: T): T {
    this.left.characters -= typeof value === 'string' ? value.length : 1;
    if (this.left.characters < 0) throw new Mismatch('too much text');
    return value;
  }
}

/** A value in place, whose unused digits must be clean: they tell the right one of two declarations. */
function inWord(type: Exclude<AbiType, { kind: 'tuple' | 'array' | 'bytes' | 'string' }>, word: string) {
  switch (type.kind) {
    case 'address':
      return `0x${afterZeros(word, 24)}`;
    case 'bool': {
      const bit = afterZeros(word, 63);
      if (bit !== '0' && bit !== '1') throw new Mismatch('a bool is neither');
      return bit === '1';
    }
    case 'fixedBytes': {
      const end = 2 * type.bytes;
      if (/[^0]/.test(word.slice(end))) throw new Mismatch('bytes are followed by others');
      return `0x${word.slice(0, end)}`;
    }
    default: {
      const value = BigInt(`0x${word}`);
      const fits = type.kind === 'uint' ? BigInt.asUintN(type.bits, value) : BigInt.asIntN(type.bits, value);
      if (BigInt.asUintN(256, fits) !== value) throw new Mismatch('an integer is too large');
      return fits.toString();
    }
  }
}

function afterZeros(word: string, count: number): string {
  if (/[^0]/.test(word.slice(0, count))) throw new Mismatch('digits before a value');
  return word.slice(count);
}
