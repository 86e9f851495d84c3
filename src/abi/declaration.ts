/** Declarations of functions, events and errors, as Solidity writes them: `transfer(address to, uint256 amount)`. */

/** A type with what is needed to find its values in encoded data. */
export type AbiType = {
  /** In its canonical form, as hashed: `uint256`, `(address,uint256)[]`. */
  text: string;
  /** Words that a value takes in place; a dynamic one takes one, which says where it is. */
  words: number;
  isDynamic: boolean;
} & (
  | { kind: 'uint' | 'int'; bits: number }
  | { kind: 'address' | 'bool' }
  | { kind: 'bytes' | 'string' }
  | { kind: 'fixedBytes'; bytes: number }
  | { kind: 'array'; item: AbiType; length: number | null }
  | { kind: 'tuple'; members: readonly AbiParam[] }
);

export interface AbiParam {
  /** Empty where the declaration has none. */
  name: string;
  type: AbiType;
  isIndexed: boolean;
}

export interface Declaration {
  name: string;
  params: readonly AbiParam[];
  /** What is hashed: `transfer(address,uint256)`. */
  signature: string;
}

/** Deepest nesting of tuples and arrays. */
const MAX_DEPTH = 8;

const NAME = /[A-Za-z_$][\w$]*/y;
const SPACE = /\s*/y;
const SUFFIX = /\[(\d{0,9})\]/y;

/** Throws SyntaxError for anything else than one declaration. */
export function parseDeclaration(text: string): Declaration {
  const reader = new Reader(text);
  const name = reader.name();
  const params = reader.params(0);
  reader.end();
  return { name, params, signature: `${name}(${typeTexts(params)})` };
}

function typeTexts(params: readonly AbiParam[]): string {
  return params.map(({ type }) => type.text).join();
}

class Reader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text.trim();
  }

  name(): string {
    const name = this.match(NAME);
    if (name === '') throw this.mistake('a name is missing');
    return name;
  }

  params(depth: number): AbiParam[] {
    if (depth > MAX_DEPTH) throw this.mistake('it is nested too deeply');
    if (!this.take('(')) throw this.mistake('( is missing');
    const params: AbiParam[] = [];
    if (this.take(')')) return params;
    do params.push(this.param(depth));
    while (this.take(','));
    if (!this.take(')')) throw this.mistake(') is missing');
    return params;
  }

  end(): void {
    if (this.at < this.text.length) throw this.mistake('something follows the declaration');
  }

  private param(depth: number): AbiParam {
    const type = this.type(depth);
    let name = this.match(NAME);
    const isIndexed = name === 'indexed';
    if (isIndexed) name = this.match(NAME);
    return { name, type, isIndexed };
  }

  private type(depth: number): AbiType {
    let type =
      this.text[this.at] === '(' ? tupleOf(this.params(depth + 1)) : this.elementary(this.match(NAME));
    for (let nested = depth; ; nested++) {
      SUFFIX.lastIndex = this.at;
      const found = SUFFIX.exec(this.text);
      if (found === null) return type;
      if (nested >= MAX_DEPTH) throw this.mistake('it is nested too deeply');
      this.at = SUFFIX.lastIndex;
      this.match(SPACE);
      type = arrayOf(type, found[1] === '' ? null : Number(found[1]));
    }
  }

  private elementary(word: string): AbiType {
    const type = elementaryType(word);
    if (type === null) throw this.mistake(`${word || 'a type'} is no type`);
    return type;
  }

  private take(sign: string): boolean {
    if (this.text[this.at] !== sign) return false;
    this.at++;
    this.match(SPACE);
    return true;
  }

  /** Reads what matches and the space after it. */
  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.at += found.length;
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    this.at = Math.max(this.at, SPACE.lastIndex);
    return found;
  }

  private mistake(problem: string): SyntaxError {
    return new SyntaxError(`${JSON.stringify(this.text.slice(0, 100))}: ${problem}`);
  }
}

function elementaryType(word: string): AbiType | null {
  const inPlace = { words: 1, isDynamic: false };
  if (word === 'address' || word === 'bool') return { kind: word, text: word, ...inPlace };
  if (word === 'bytes' || word === 'string') return { kind: word, text: word, words: 1, isDynamic: true };
  if (word === 'function') return { kind: 'fixedBytes', bytes: 24, text: word, ...inPlace };
  const [, name, digits = ''] = /^(uint|int|bytes)([1-9]\d{0,2})?$/.exec(word) ?? [];
  const size = digits === '' ? 256 : Number(digits);
  if (name === 'bytes')
    return size <= 32 ? { kind: 'fixedBytes', bytes: size, text: word, ...inPlace } : null;
  if ((name !== 'uint' && name !== 'int') || size > 256 || size % 8 !== 0) return null;
  return { kind: name, bits: size, text: `${name}${size}`, ...inPlace };
}

function tupleOf(members: readonly AbiParam[]): AbiType {
  const isDynamic = members.some(({ type }) => type.isDynamic);
  const words = isDynamic ? 1 : headWords(members);
  return { kind: 'tuple', members, text: `(${typeTexts(members)})`, words, isDynamic };
}

function arrayOf(item: AbiType, length: number | null): AbiType {
  const isDynamic = length === null || item.isDynamic;
  const words = isDynamic ? 1 : length * item.words;
  return { kind: 'array', item, length, text: `${item.text}[${length ?? ''}]`, words, isDynamic };
}

/** Words of the encoded parameters before what dynamic ones point to. */
export function headWords(params: readonly AbiParam[]): number {
  return params.reduce((words, { type }) => words + type.words, 0);
}
