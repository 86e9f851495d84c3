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
  if (query.includes('\0')) throw new QueryRefusal('the query contains a NUL character: remove it');
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
    return { kind, value: kind === 'word' ? asciiLower(text) : text, start, end: start + length };
  }
  throw new QueryRefusal(`the query has an unexpected character: ${JSON.stringify(query[start])}`);
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
