/**
 * Finds where values in a JSON text end and checks that they are JSON (RFC 8259), so that a request can be split without
 * building its values: only their text is passed on. Half the cost of JSON.parse.
 *
 * Two more read JSON without building it: json-slices.ts cuts text that is known to be JSON, and lib/json-projection.ts
 * drops unread members from a node's answer before JSON.parse checks the rest. They share no code: what one checks the
 * others skip, or they read bytes, and each loop is hot.
 */

const TAB = 9;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Deeper values are refused: nodes take fewer levels. */
const MAX_DEPTH = 256;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Offset of the first non-whitespace character from `at` on. */
export function skipSpace(text: string, at: number): number {
  let i = at;
  for (;;) {
    const code = text.charCodeAt(i);
    if (code !== SPACE && code !== 10 && code !== 13 && code !== TAB) return i;
    i++;
  }
}

/** Receives the parts of an object or array, as offsets of their text. */
export interface Visitor {
  /** The name of a member, with its quotes. */
  name(start: number, end: number): void;
  /** The value of that member, or an item, after its parts were shown to `inner`. Returns false to stop. */
  value(start: number, end: number): boolean;
  /** Receives the parts of those values, if given. */
  readonly inner?: Visitor;
}

const NOBODY: Visitor = { name() {}, value: () => true };

/** Offset behind the value that begins at `at`, or -1 when there is none. Shows its parts to the visitor. */
export function scanValue(text: string, at: number, visitor = NOBODY, depth = 0): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return scanString(text, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return scanParts(text, at, visitor, depth);
  return scanWord(text, at, first === 45 || (first >= ZERO && first <= NINE) ? NUMBER : WORD);
}

/**
 * Shows the visitor the members of the object, or the items of the array, that begins at `at`. Returns the offset
 * after it, or -1 as soon as it is not well-formed or the visitor stops.
 */
export function scanParts(text: string, at: number, visitor: Visitor, depth = 0): number {
  if (depth > MAX_DEPTH) return -1;
  const isObject = text.charCodeAt(at) === OPEN_BRACE;
  const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  const inner = visitor.inner ?? NOBODY;
  let i = skipSpace(text, at + 1);
  if (text.charCodeAt(i) === close) return i + 1;
  for (;;) {
    if (isObject) {
      const nameEnd = text.charCodeAt(i) === QUOTE ? scanString(text, i) : -1;
      if (nameEnd < 0) return -1;
      visitor.name(i, nameEnd);
      i = skipSpace(text, nameEnd);
      if (text.charCodeAt(i) !== COLON) return -1;
      i = skipSpace(text, i + 1);
    }
    const end = scanValue(text, i, inner, depth + 1);
    if (end < 0) return -1;
    if (!visitor.value(i, end)) return -1;
    i = skipSpace(text, end);
    const next = text.charCodeAt(i);
    if (next === close) return i + 1;
    if (next !== COMMA) return -1;
    i = skipSpace(text, i + 1);
  }
}

/** Offset after the string whose opening quote is at `at`. */
function scanString(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i + 1;
    if (code < SPACE) return -1;
    if (code !== BACKSLASH) continue;
    const end = scanWord(text, i, ESCAPE);
    if (end < 0) return -1;
    i = end - 1;
  }
  return -1;
}

function scanWord(text: string, at: number, word: RegExp): number {
  word.lastIndex = at;
  return word.test(text) ? word.lastIndex : -1;
}
