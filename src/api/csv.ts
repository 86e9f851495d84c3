/** Lists as CSV (RFC 4180): one line per record, the columns as in the schema of the record. */
import { z } from 'zod';
import { isObject } from '../lib/text.ts';
import { addressMembers } from './address-labels.ts';

interface Column {
  title: string;
  /** The member of a record. */
  member: string;
  /** The member of that member, for labels. */
  inner?: 'name';
}

/** Makes a function that writes the list in the member `list` of an answer. Labels are columns beside their addresses. */
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

/** A spreadsheet would run a token's name that begins like a formula, so these get an apostrophe. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
