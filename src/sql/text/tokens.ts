/** Splits a query into tokens as SQLite does. Comments and space are left out. */
import { QueryRefusal } from '../query-refusal.ts';

/** `name` is a quoted identifier; a `word` is a keyword or an identifier. */
export type TokenKind = 'word' | 'name' | 'string' | 'number' | 'blob' | 'parameter' | 'symbol';

export interface Token {
  kind: TokenKind;
  /** A word or name in lower case without its quotes; the characters of anything else. */
  value: string;
  /** Where its characters begin and end in the query. */
  start: number;
  end: number;
}

/** Longest query. A list of 20,000 addresses fits. */
export const MAX_QUERY_CHARACTERS = 1_000_000;

/** The mark that editors put in front of a file is space to SQLite, too. */
const SPACE_OR_COMMENT = /[ \t\n\f\r\ufeff]+|--[^\n]*|\/\*.*?(?:\*\/|$)/sy;
/** What SQLite takes for letters, and people, who copy it from a page or a document, for spaces and quotes. */
const LOOKALIKES: readonly { form: RegExp; what: string; instead: string }[] = [
  {
    form: /[\u00a0\u1680\u2000-\u200b\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]/u,
    what: 'a space',
    instead: 'a space',
  },
  // Within a word it may be an apostrophe.
  { form: /^[\u00b4\u2018-\u201f]|[\u00b4\u2018-\u201f]$/u, what: 'a quote', instead: "' around texts" },
];
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const NUMBER = /0[xX][0-9A-Fa-f_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?/y;
const PARAMETER = /\?[0-9]*|[:@$#][A-Za-z0-9_$:\u0080-\uffff]+/y;
const SYMBOL = /->>|->|\|\||==|!=|<>|<=|>=|<<|>>|[-+*/%&|~<>=(),.;]/y;
const BLOB = /[xX]'[^']*'/y;
const QUOTES: Record<string, { close: string; kind: TokenKind; what: string }> = {
  "'": { close: "'", kind: 'string', what: 'text' },
  '"': { close: '"', kind: 'name', what: 'name' },
  '`': { close: '`', kind: 'name', what: 'name' },
  '[': { close: ']', kind: 'name', what: 'name' },
};

/** Throws QueryRefusal for what is no SQL text. */
export function tokensOf(query: string): Token[] {
  if (query.length > MAX_QUERY_CHARACTERS)
    throw new QueryRefusal(
      `a query has at most ${MAX_QUERY_CHARACTERS} characters, this one ${query.length}`,
    );
  if (query.includes('\0'))
    throw new QueryRefusal('the query contains a NUL character: remove it, or save its file as UTF-8');
  const tokens: Token[] = [];
  for (let at = skip(query, 0); at < query.length; at = skip(query, tokens.at(-1)!.end))
    tokens.push(tokenAt(query, at));
  return tokens;
}

/** Lower case as SQLite compares names: of ASCII letters only. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function skip(query: string, start: number): number {
  let at = start;
  for (let length = 1; length > 0; at += length) length = matchAt(SPACE_OR_COMMENT, query, at);
  return at;
}

/** The length of the match at a position, 0 for none. */
function matchAt(pattern: RegExp, query: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(query)?.[0].length ?? 0;
}

function tokenAt(query: string, start: number): Token {
  const quote = QUOTES[query[start] ?? ''];
  if (quote !== undefined) return quotedAt(query, start, quote);
  const patterns: [RegExp, TokenKind][] = [
    [BLOB, 'blob'],
    [WORD, 'word'],
    [NUMBER, 'number'],
    [PARAMETER, 'parameter'],
    [SYMBOL, 'symbol'],
  ];
  for (const [pattern, kind] of patterns) {
    const length = matchAt(pattern, query, start);
    if (length === 0) continue;
    const text = query.slice(start, start + length);
    if (kind === 'word') refuseLookalikes(text);
    return { kind, value: kind === 'word' ? asciiLower(text) : text, start, end: start + length };
  }
  throw new QueryRefusal(`the query has an unexpected character: ${JSON.stringify(query[start])}`);
}

function refuseLookalikes(word: string): void {
  for (const { form, what, instead } of LOOKALIKES) {
    const [found] = form.exec(word) ?? [];
    if (found === undefined) continue;
    const code = found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    throw new QueryRefusal(
      `"${word.slice(0, 40)}" has what only looks like ${what} (U+${code}): type ${instead}`,
    );
  }
}

function quotedAt(query: string, start: number, quote: (typeof QUOTES)[string]): Token {
  const { close, kind, what } = quote;
  let end = start + 1;
  for (;;) {
    end = query.indexOf(close, end);
    if (end < 0) throw new QueryRefusal(`a ${what} has no closing ${close}: ${excerpt(query, start)}`);
    // A doubled quote is one of the characters, but not a doubled bracket.
    if (close === ']' || query[end + 1] !== close) break;
    end += 2;
  }
  const text = query.slice(start + 1, end).replaceAll(close + close, close);
  return { kind, value: kind === 'name' ? asciiLower(text) : text, start, end: end + 1 };
}

function excerpt(query: string, start: number): string {
  const text = query.slice(start, start + 40).replace(/\s+/g, ' ');
  return start + 40 < query.length ? `${text} ...` : text;
}
