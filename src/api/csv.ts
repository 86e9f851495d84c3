/**
 * Writes lists as CSV (RFC 4180): one line per record, with columns in the order of the record's schema. Lists and
 * objects are JSON.
 */
import * as z from 'zod';
import { csvLine } from '../lib/csv.ts';
import { isObject } from '../lib/text.ts';
import { addressMembers } from './address-labels.ts';

interface CsvColumn {
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
  const columns = Object.keys(record.shape).flatMap((member): CsvColumn[] => {
    const label = `${member}Label`;
    const own = { title: member, member };
    return addresses.has(member) ? [own, { title: label, member: label, inner: 'name' }] : [own];
  });
  const header = csvLine(columns.map(({ title }) => title));
  return (answer) => {
    const records: unknown = Reflect.get(answer, list);
    if (!Array.isArray(records)) throw new Error(`the answer has no list ${list}`);
    const lines = records.map((row: unknown) => csvLine(columns.map((column) => fieldOf(row, column))));
    return `${[header, ...lines].join('\r\n')}\r\n`;
  };
}

function fieldOf(record: unknown, { member, inner }: CsvColumn): unknown {
  if (!isObject(record)) throw new Error('a record is not an object');
  const { [member]: value } = record;
  if (inner !== undefined && isObject(value)) return value[inner];
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : value;
}
