/**
 * Finds where values in a JSON text lie, so that they can be passed on byte for byte. JSON.parse and JSON.stringify
 * would change numbers beyond 2^53, escapes and spacing.
 *
 * All functions take a text that is known to be valid JSON (JSON.parse or json-scan.ts accepted it); for any other the
 * result is meaningless. Without checks they are three to six times as fast as json-scan.ts, hundreds of times with long
 * strings, which they skip by searching for the end; and they accept any depth of nesting.
 */

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COMMA = 44;
const COLON = 58;

/** `text` is one object: the text of each member's value, by name. The last of a repeated name wins, as in JSON.parse. */
export function memberTexts(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(at) !== CLOSE_BRACE) {
    const nameEnd = stringEnd(text, at);
    const name = text.slice(at + 1, nameEnd - 1);
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1); // past the colon
    const end = valueEnd(text, start);
    members.set(name.includes('\\') ? String(JSON.parse(`"${name}"`)) : name, text.slice(start, end));
    at = nextItem(text, end);
  }
  return members;
}

/** `text` is one array: the text of each item. */
export function itemTexts(text: string): string[] {
  const items: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = valueEnd(text, at);
    items.push(text.slice(at, end));
    at = nextItem(text, end);
  }
  return items;
}

/** Offset after the value that begins at `at`. */
function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return stringEnd(text, at);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return wordEnd(text, at);
  let depth = 0;
  for (let i = at; ; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = stringEnd(text, i) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return i + 1;
  }
}

/** Offset after the closing quote of the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
}

/** Offset after a number, true, false or null. */
function wordEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && !isDelimiter(text.charCodeAt(end))) end++;
  return end;
}

function isDelimiter(code: number): boolean {
  return code <= 32 || code === COMMA || code === COLON || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

/** From the end of a value to the next one, or to the closing bracket. */
function nextItem(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at;
}

function skipSpace(text: string, at: number): number {
  let i = at;
  while (text.charCodeAt(i) <= 32) i++;
  return i;
}
