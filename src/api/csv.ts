/** Writes lists as CSV (RFC 4180): one line per record, with columns in the order of the record's schema. */
import { z } from 'zod';
import { isObject } from '../lib/text.ts';
import { addressMembers } from './address-labels.ts';

interface Column {
  title: string;
  /** Field of a record. */
  member: string;
  /** Field within that field, for labels. */
  inner?: 'name';
}

/** Returns a function that writes list `list` of an answer as CSV. Labels get columns beside their addresses. */
export function csvWriter(response: z.ZodObject, list: string): (answer: object) => string {
  const schema: unknown = response.shape[list];
  if (!(schema instanceof z.ZodArray && schema.element instanceof z.ZodObject))
    throw new Error(`${list} is not a list of records`);
  const record = schema.element;
  const addresses = new Set(addressMembers(record));
  const columns = Object.keys(record.shape).flatMap((member): Column[] => {
    const label = `${member}Label`;
    const own = { title: member, member };
    return addresses.has(member) ? [own, { title: label, member: label, inner: 'name' }] : [own];
  });
  const header = columns.map(({ title }) => title).join(',');
  return (answer) => {
    const records: unknown = Reflect.get(answer, list);
    if (!Array.isArray(records)) throw new Error(`the answer has no list ${list}`);
    const lines = records.map((row: unknown) => columns.map((column) => cellOf(row, column)).join(','));
    return `${[header, ...lines].join('\r\n')}\r\n`;
  };
}

function cellOf(record: unknown, { member, inner }: Column): string {
  if (!isObject(record)) throw new Error('a record is not an object');
  const { [member]: value } = record;
  return cellText(inner !== undefined && isObject(value) ? value[inner] : value);
}

/** A spreadsheet would run a token's name that starts like a formula, so such a name gets an apostrophe. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
