/** Reads lists of labels: CSV with or without a header line, or a JSON list of objects. */
import { ConfigError } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import { ADDRESS_PATTERN } from '../model/address.ts';
import { LABEL_CATEGORIES } from '../model/label.ts';
import type { LabelRow } from './labels-file.ts';

/** The columns of a CSV without header. */
const COLUMNS = ['address', 'name', 'category', 'source'] as const;

const MAX_NAME_CHARS = 100;

/** Fields as found in the file. */
type Fields = Partial<Record<(typeof COLUMNS)[number], unknown>>;

/**
 * `source` applies to labels without their own. Throws ConfigError for the first invalid label and says where it is.
 */
export function* parseLabels(text: string, source: string): Generator<LabelRow> {
  const list = text.replace(/^\uFEFF/, '');
  const records = list.trimStart().startsWith('[') ? jsonRecords(list) : csvRecords(list);
  for (const { place, fields } of records) yield toRow(fields, place, source);
}

interface PlacedFields {
  /** Location for messages, such as `line 3`. */
  place: string;
  fields: Fields;
}

function* jsonRecords(text: string): Generator<PlacedFields> {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    throw new ConfigError('the file begins with [ but is not JSON');
  }
  if (!Array.isArray(list)) throw new ConfigError('the JSON is not a list of objects');
  for (const [i, record] of list.entries()) {
    const place = `item ${i + 1}`;
    if (!isObject(record)) throw new ConfigError(`${place} is not an object with address and name`);
    yield { place, fields: record };
  }
}

function* csvRecords(text: string): Generator<PlacedFields> {
  let columns: readonly string[] = COLUMNS;
  let isFirst = true;
  for (const { line, values } of csvLines(text)) {
    if (values.length === 1 && values[0]?.trim() === '') continue;
    const names = values.map((value) => value.trim().toLowerCase());
    if (isFirst && names.includes('address')) columns = names;
    else if (isFirst && /[;\t|]/.test(values[0] ?? ''))
      throw new ConfigError(
        `line ${line}: separate the columns with commas, not "${values[0]?.match(/[;\t|]/)}"`,
      );
    else {
      yield {
        place: `line ${line}`,
        fields: Object.fromEntries(columns.map((name, i) => [name, values[i]])),
      };
    }
    isFirst = false;
  }
}

/** The values of each line. A quoted value may hold commas, line breaks and doubled quotes. */
function* csvLines(text: string): Generator<{ line: number; values: string[] }> {
  const plain = /[^",\r\n]*/y;
  const separator = /,|\r?\n|\r|$/y;
  let values: string[] = [];
  for (let at = 0, line = 1, first = 1; at < text.length || values.length > 0; ) {
    const end = text[at] === '"' ? quotedEnd(text, at, line) : endOfMatch(plain, text, at);
    const value = text.slice(at, end);
    separator.lastIndex = end;
    const [separated] = separator.exec(text) ?? [];
    if (separated === undefined) throw misplacedQuote(line);
    values.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    line += newlines(value) + newlines(separated);
    at = end + separated.length;
    if (separated === ',') continue;
    yield { line: first, values };
    values = [];
    first = line;
  }
}

/**
 * The end of the quoted value that starts at `start`, after its closing quote. Not a pattern: a stray quote makes the
 * rest of the file one value, which exhausts the pattern's stack.
 */
function quotedEnd(text: string, start: number, line: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 2))
    if (text[quote + 1] !== '"') return quote + 1;
  throw misplacedQuote(line);
}

function endOfMatch(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  pattern.exec(text);
  return pattern.lastIndex;
}

function newlines(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

function misplacedQuote(line: number): ConfigError {
  return new ConfigError(`line ${line} has a quote in the wrong place`);
}

function toRow(fields: Fields, place: string, fileSource: string): LabelRow {
  const address = textOf(fields.address);
  const name = textOf(fields.name);
  const category = textOf(fields.category).toLowerCase() || 'other';
  if (!ADDRESS_PATTERN.test(address)) {
    throw new ConfigError(`${place}: "${address.slice(0, 60)}" is not an address of 0x and 40 hex digits`);
  }
  if (name === '' || name.length > MAX_NAME_CHARS || /\p{Cc}/u.test(name)) {
    throw new ConfigError(`${place}: a name has 1 to ${MAX_NAME_CHARS} characters and no control characters`);
  }
  const known = LABEL_CATEGORIES.find((one) => one === category);
  if (known === undefined) {
    throw new ConfigError(
      `${place}: category "${category.slice(0, 60)}" is not one of ${LABEL_CATEGORIES.join(', ')}`,
    );
  }
  return {
    address,
    name,
    category: known,
    source: textOf(fields.source).slice(0, MAX_NAME_CHARS) || fileSource,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
