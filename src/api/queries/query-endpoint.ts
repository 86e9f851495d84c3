/** The endpoint of a named query: its parameters as those of a request, and its answer. */
import * as z from 'zod';
import { csvLine } from '../../lib/csv.ts';
import { isObject } from '../../lib/text.ts';
import type { NamedQuery, QueryParameter } from '../../model/named-query.ts';
import { blockField, countField, timeField, txHashField } from '../../schemas/fields.ts';
import { defineEndpoint, type Endpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { address, limit, plainText, wholeNumber } from '../params.ts';

export const QUERIES_PATH = '/api/queries';

/** `columns` of the answer, without repetitions. */
export function queryEndpoint(query: NamedQuery, columns: readonly string[]): Endpoint {
  const { name, description, parameters, rows } = query;
  const value = z
    .union([z.string(), z.number(), z.null()])
    .describe('As SQL gives it: decimal text for amounts and for whole numbers beyond 2^53');
  const endpoint = defineEndpoint({
    method: 'GET',
    path: `${QUERIES_PATH}/${name}`,
    tag: 'queries',
    list: 'rows',
    summary: description === '' ? `The operator's query ${name}` : description.replace(/\.$/, ''),
    params: {
      ...Object.fromEntries(parameters.map((parameter) => [parameter.name, parameterSchema(parameter)])),
      limit: limit(rows, rows),
    },
    response: {
      name: z.string(),
      columns: z.array(z.string()).describe('The columns in their order'),
      rows: z.array(z.object(Object.fromEntries(columns.map((column) => [column, value])))),
      count: countField(),
      cut: z
        .enum(['rows', 'bytes'])
        .nullable()
        .describe('Why rows are missing at the end: more than limit, or too many bytes. Null where none are'),
      head: z
        .object({ blockNumber: blockField(), blockHash: txHashField(), timestamp: timeField() })
        .describe('The block that the answer is as of'),
      gaps: countField().describe('Blocks of which transfers are missing'),
      damage: z.string().nullable().describe('Damage of the index that no repair could mend'),
    },
    example: {
      params: Object.fromEntries(
        parameters.filter(({ isRequired }) => isRequired).map((given) => [given.name, exampleOf(given)]),
      ),
      response: {
        name,
        columns: [...columns],
        rows: [],
        count: 0,
        cut: null,
        head: { blockNumber: 4711, blockHash: example.blockHash, timestamp: example.time },
        gaps: 0,
        damage: null,
      },
    },
    prepare: () => () => {
      throw new Error('a named query runs in a process of its own');
    },
  });
  return { ...endpoint, toCsv: (answer) => csvOf(answer, columns) };
}

function parameterSchema(parameter: QueryParameter): z.ZodType {
  const { isRequired, default: byDefault, description } = parameter;
  const described = description === '' ? formOf(parameter) : formOf(parameter).describe(description);
  if (isRequired) return described;
  return byDefault === null ? described.optional() : described.prefault(String(byDefault));
}

function formOf({ type, min, max }: QueryParameter): z.ZodType {
  if (type === 'address') return address();
  return type === 'integer' ? wholeNumber(min, max) : plainText();
}

function exampleOf({ type, min, max }: QueryParameter): string {
  if (type === 'address') return example.wallet;
  if (type === 'text') return 'text';
  return String(min > 1n ? min : max < 1n ? max : 1n);
}

/** The columns in their order, which an object does not keep where a name is a number. */
function csvOf(answer: object, columns: readonly string[]): string {
  const rows: unknown = Reflect.get(answer, 'rows');
  if (!Array.isArray(rows)) throw new Error('the answer has no rows');
  const lines = rows.map((row: unknown) =>
    csvLine(columns.map((column) => (isObject(row) ? row[column] : null))),
  );
  return `${[csvLine(columns), ...lines].join('\r\n')}\r\n`;
}
