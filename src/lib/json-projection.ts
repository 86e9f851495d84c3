/**
 * Removes unread members from JSON text before it is parsed. They make up two thirds of a node's answer about a block
 * (blooms, signatures, the block hash in each log). Parsing them costs more than finding them, and burdens the garbage
 * collector.
 */
import { isAscii } from 'node:buffer';
import {
  type Echo,
  type ItemFacts,
  LazyItems,
  LazyJsonArray,
  nextHash,
  ObjectProjection,
  type Projection,
} from './projection.ts';

/**
 * Parses JSON text with only the members of the projection, and with a LazyJsonArray in place of each array of
 * LazyItems. Overwrites the text. Throws SyntaxError when the text is truncated or a kept part is not JSON. Does not
 * check dropped parts; checks items when they are read.
 */
export function parseProjected(text: Buffer, projection: ObjectProjection): unknown {
  const projector = new Projector(text);
  const projected = text.subarray(0, projector.project(projection));
  return putItems(JSON.parse(projected.toString(encodingOf(projected))), projection, projector.items);
}

/**
 * Replaces the projector's placeholders, arrays that contain only a number, with the items of that number. Stops at the
 * depth at which the projector does: a node may nest its answer deeper than the stack allows.
 */
function putItems(
  value: unknown,
  projection: ObjectProjection | LazyItems,
  items: readonly LazyJsonArray[],
  depth = 0,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (projection instanceof LazyItems) {
    const place: unknown = Array.isArray(value) && value.length === 1 ? value[0] : undefined;
    return typeof place === 'number' ? (items[place] ?? value) : value;
  }
  if (depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    return value.map((item: unknown) => putItems(item, projection, items, depth + 1));
  }
  const object = value as Record<string, unknown>;
  for (const [name, inner] of projection.withItems) {
    if (Object.hasOwn(object, name)) object[name] = putItems(object[name], inner, items, depth + 1);
  }
  return object;
}

/** Answers of nodes are nearly always ASCII, and decoding ASCII as Latin-1 is a tenth faster. */
export function encodingOf(text: Buffer): 'latin1' | 'utf8' {
  return isAscii(text) ? 'latin1' : 'utf8';
}

/** All other whitespace characters have lower codes. */
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const DIGIT_0 = 48;
const DIGIT_4 = 52;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LETTER_F = 102;
const LETTER_T = 116;
const LETTER_X = 120;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Values nested deeper than this are kept whole. */
const MAX_DEPTH = 512;

const TRUE = Buffer.from('true');

/** A bloom without ones, and one without zeros, as JSON text. */
const BLOOM_BYTES = 516;
const EMPTY_BLOOM = Buffer.from(`"0x${'0'.repeat(512)}"`);
const FULL_BLOOM = Buffer.from(`"0x${'f'.repeat(512)}"`);

/** Places of repeated texts, and bytes of each; a longer text is odd. */
const ECHOES = 2;
const ECHO_BYTES = 80;
const ECHO_STEP = 4;

class Projector {
  readonly items: LazyJsonArray[] = [];
  /** The repeated texts of the item, with their quotes, and their lengths; 0 before the first one. */
  private readonly echoes = Array.from({ length: ECHOES }, () => new Uint8Array(ECHO_BYTES));
  private readonly echoLengths = new Uint8Array(ECHOES);
  private isOdd = false;
  /** The last bloom with ones and zeros. */
  private readonly bloom = Buffer.alloc(BLOOM_BYTES);
  private hasBloom = false;
  private readonly bytes: Buffer;
  private at = 0;
  /** Number of bytes already moved to their new place. */
  private kept = 0;
  /** Start of the next bytes to keep. */
  private from = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  project(members: ObjectProjection): number {
    this.skipSpace();
    this.value(members, 0);
    this.keep(this.bytes.length);
    return this.kept;
  }

  private value(members: ObjectProjection, depth: number): void {
    const first = this.bytes[this.at];
    if (first === OPEN_BRACE && depth < MAX_DEPTH) this.object(members, depth + 1);
    else if (first === OPEN_BRACKET && depth < MAX_DEPTH) this.array(members, depth + 1);
    else this.skipValue();
    this.skipSpace();
  }

  /** Moves the items of an array out and leaves a placeholder. Does not change an unclosed array. */
  private each({ members }: LazyItems, depth: number): void {
    const { bytes } = this;
    if (bytes[this.at] !== OPEN_BRACKET) return this.skipValue();
    const bounds: number[] = [];
    const facts: ItemFacts = { odd: new Set(), lastBloom: null };
    let bloomAt = -1;
    this.step();
    const begin = this.kept;
    if (bytes[this.at] === CLOSE_BRACKET) {
      this.at++;
      return;
    }
    for (;;) {
      bounds.push(this.kept - begin);
      this.echoLengths.fill(0);
      this.isOdd = this.hasBloom = false;
      this.value(members, depth + 1);
      this.keep(this.at);
      const item = bounds.length >> 1;
      if (this.isOdd) facts.odd.add(item);
      if (this.hasBloom) bloomAt = item;
      bounds.push(this.kept - begin);
      if (bytes[this.at] !== COMMA) break;
      this.step();
    }
    if (bytes[this.at] !== CLOSE_BRACKET) return;
    this.at++;
    const number = String(this.items.length);
    const text = bytes.subarray(begin, this.kept);
    if (text.length < number.length) return;
    if (bloomAt >= 0)
      facts.lastBloom = { at: bloomAt, bloom: this.bloom.toString('latin1', 1, BLOOM_BYTES - 1) };
    this.items.push(new LazyJsonArray(text, Uint32Array.from(bounds), encodingOf(text), facts));
    this.kept = begin + bytes.write(number, begin, 'latin1');
  }

  /** Keeps a bracket or a comma and the whitespace after it. */
  private step(): void {
    this.at++;
    this.skipSpace();
    this.keep(this.at);
  }

  private array(members: ObjectProjection, depth: number): void {
    do {
      this.at++;
      this.skipSpace();
      this.value(members, depth);
    } while (this.bytes[this.at] === COMMA);
    if (this.bytes[this.at] === CLOSE_BRACKET) this.at++;
  }

  private object(members: ObjectProjection, depth: number): void {
    this.at++;
    this.skipSpace();
    while (this.bytes[this.at] === QUOTE) {
      const start = this.at;
      const projection = this.name(members);
      this.skipSpace();
      if (this.bytes[this.at] !== COLON) return;
      this.at++;
      this.skipSpace();
      let isKept = projection !== undefined;
      if (projection === undefined || projection === 'whole') this.skipValue();
      else if (projection instanceof ObjectProjection) this.value(projection, depth);
      else if (projection instanceof LazyItems) this.each(projection, depth);
      else isKept = this.condense(projection);
      this.skipSpace();
      const isLast = this.bytes[this.at] === CLOSE_BRACE;
      if (!isLast && this.bytes[this.at] !== COMMA) return;
      if (!isLast) this.at++;
      this.skipSpace();
      if (!isKept) this.drop(start, isLast);
    }
    if (this.bytes[this.at] === CLOSE_BRACE) this.at++;
  }

  /** Skips the name of a member. Returns what to keep of its value. */
  private name(members: ObjectProjection): Projection | undefined {
    const { bytes } = this;
    let hash = 0;
    for (let i = this.at + 1; i < bytes.length; i++) {
      const code = bytes[i]!;
      if (code === BACKSLASH) {
        this.at = endOfString(bytes, this.at);
        return 'whole'; // an escaped name can be any name
      }
      if (code === QUOTE) {
        this.at = i + 1;
        return members.get(hash);
      }
      hash = nextHash(hash, code);
    }
    this.at = bytes.length;
    return 'whole';
  }

  /** Reads a value of which at most a trace is kept. Returns whether its member is kept. */
  private condense(projection: Echo | 'bits' | 'unlessTrue' | 'unlessLow'): boolean {
    if (projection === 'bits') return this.condenseBloom();
    if (projection === 'unlessLow') return !this.skipLow();
    if (projection === 'unlessTrue') {
      if (this.bytes[this.at] === LETTER_T) this.isOdd = true;
      this.skipValue();
      return false;
    }
    this.compareEcho(projection.slot);
    return projection.isKept;
  }

  /** Skips a value. Returns whether it is `"0x0"` to `"0x4"`. */
  private skipLow(): boolean {
    const { bytes, at } = this;
    this.skipValue();
    const digit = bytes[at + 3]!;
    return this.at === at + 5 && bytes[at + 2] === LETTER_X && digit >= DIGIT_0 && digit <= DIGIT_4;
  }

  /** Most blooms are empty, and comparing one with an empty one costs no more than finding its end. */
  private condenseBloom(): boolean {
    const { bytes, at } = this;
    if (isAt(bytes, EMPTY_BLOOM, at)) {
      this.at = at + BLOOM_BYTES;
      return false;
    }
    this.skipValue();
    if (
      bytes[at] !== QUOTE ||
      this.at !== at + BLOOM_BYTES ||
      (bytes[at + 3] === LETTER_F && isAt(bytes, FULL_BLOOM, at))
    )
      return false;
    bytes.copy(this.bloom, 0, at, this.at);
    this.hasBloom = true;
    this.keep(at);
    for (const code of TRUE) bytes[this.kept++] = code;
    this.from = this.at;
    return true;
  }

  private compareEcho(slot: number): void {
    const { bytes, at } = this;
    const text = this.echoes[slot]!;
    const length = this.echoLengths[slot]!;
    if (bytes[at] !== QUOTE) return this.skipValue(); // nothing, or null
    // Every fourth digit, from the last one, tells hashes apart as surely as all of them.
    let differing = length - 1;
    if (bytes[at + differing] === QUOTE)
      for (differing--; differing > 0 && bytes[at + differing] === text[differing]; ) differing -= ECHO_STEP;
    if (differing <= 0 && length > ECHO_STEP) {
      this.at = at + length;
      return;
    }
    this.skipValue();
    const found = bytes.subarray(at, this.at);
    if (length === 0 && found.length <= ECHO_BYTES) {
      text.set(found);
      this.echoLengths[slot] = found.length;
    } else if (lowerText(found) !== lowerText(text.subarray(0, length))) this.isOdd = true;
  }

  private skipValue(): void {
    const { bytes, at } = this;
    const first = bytes[at] ?? 0;
    if (first === QUOTE) this.at = endOfString(bytes, at);
    else if (isOpening(first)) this.at = endOfContainer(bytes, at);
    else this.at = endOfWord(bytes, at);
  }

  private skipSpace(): void {
    while (this.at < this.bytes.length && this.bytes[this.at]! <= SPACE) this.at++;
  }

  /** Drops everything from `start` to here; for the last member of an object, also the comma before it. */
  private drop(start: number, isLast: boolean): void {
    this.keep(start);
    if (isLast) {
      while (this.bytes[this.kept - 1]! <= SPACE) this.kept--; // ends at the opening brace
      if (this.bytes[this.kept - 1] === COMMA) this.kept--;
    }
    this.from = this.at;
  }

  /** Copies in a loop: most pieces are too short for a call into the engine. */
  private keep(end: number): void {
    const { bytes, from } = this;
    let { kept } = this;
    for (let i = from; i < end; i++) bytes[kept++] = bytes[i]!;
    this.kept = kept;
    this.from = end;
  }
}

function isAt(bytes: Buffer, text: Buffer, at: number): boolean {
  const end = at + text.length;
  return end <= bytes.length && bytes.compare(text, 0, text.length, at, end) === 0;
}

function lowerText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').toLowerCase();
}

/** The offset after the string that begins at `at`. */
function endOfString(bytes: Buffer, at: number): number {
  let end = bytes.indexOf(QUOTE, at + 1);
  while (end > 0 && isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1);
  return end < 0 ? bytes.length : end + 1;
}

/** Whether an odd number of backslashes precedes a byte. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let first = at;
  while (bytes[first - 1] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** The offset after the object or array that begins at `at`. */
function endOfContainer(bytes: Buffer, at: number): number {
  let depth = 0;
  for (let i = at; i < bytes.length; ) {
    const code = bytes[i]!;
    i = code === QUOTE ? endOfString(bytes, i) : i + 1;
    if (isOpening(code)) depth++;
    else if (isClosing(code) && --depth === 0) return i;
  }
  return bytes.length;
}

/** The offset after a number, `true`, `false` or `null`. */
function endOfWord(bytes: Buffer, at: number): number {
  for (let i = at; i < bytes.length; i++) {
    const code = bytes[i]!;
    if (code === COMMA || code <= SPACE || isClosing(code)) return i;
  }
  return bytes.length;
}

function isOpening(code: number): boolean {
  return code === OPEN_BRACE || code === OPEN_BRACKET;
}

function isClosing(code: number): boolean {
  return code === CLOSE_BRACE || code === CLOSE_BRACKET;
}
