/** A REST endpoint: data about its parameters and answer, and the function that gives the answer. */
import { z } from 'zod';
import type { AddressBook } from '../query/address-book.ts';
import type { Effort } from '../query/effort.ts';
import type { Head } from '../query/snapshot.ts';
import type { Db } from '../store/open.ts';
import { inputReader } from './input.ts';

/** What endpoints read from. Statements are prepared once, at boot. */
export interface IndexSource {
  db: Db;
  /** Of the same connection. */
  addresses: AddressBook;
  /** Symbol of the chain's own coin. */
  nativeSymbol: string;
}

/** What an answer may depend on besides its parameters. */
export interface Context {
  /** The last block of the commit being read. */
  head: Head;
  /** Largest `depth` of funding_chain for the caller. */
  chainDepth: number;
  /** Limits the work for the answer. */
  effort: Effort;
}

/** Returns the answer, a plain object for JSON. `input` is the query's text values, or the parsed body of a POST. */
export type Answer = (input: unknown, context: Context) => object;

export interface Endpoint {
  method: 'GET' | 'POST';
  path: `/api/${string}`;
  summary: string;
  /** The query parameters of a GET as text, the JSON body of a POST. */
  params: z.ZodObject;
  response: z.ZodObject;
  example: { params: object; response: object };
  /** Whether the limits of its parameters depend on the tier of the key. */
  tierLimited?: boolean;
  prepare(source: IndexSource): Answer;
}

/** What every answer carries. */
const COVERAGE = { historicalCoverageStartBlock: z.int().min(0).describe('First block of the index') };

/** Defines an endpoint. Adds `historicalCoverageStartBlock` to its answers, and checks input before passing it on. */
export function endpoint<P extends z.ZodRawShape, R extends z.ZodRawShape>(definition: {
  method: 'GET' | 'POST';
  path: `/api/${string}`;
  summary: string;
  params: P;
  response: R;
  example: { params: z.input<z.ZodObject<P>>; response: z.output<z.ZodObject<R>> };
  tierLimited?: boolean;
  prepare(
    source: IndexSource,
  ): (params: z.output<z.ZodObject<P>>, context: Context) => z.output<z.ZodObject<R>>;
}): Endpoint {
  const params = z.object(definition.params);
  const read = inputReader(params, definition.method === 'GET' ? 'invalid_parameter' : 'invalid_body');
  return {
    ...definition,
    params,
    response: z.object({ ...definition.response, ...COVERAGE }),
    prepare(source) {
      const answer = definition.prepare(source);
      return (input, context) =>
        Object.assign(answer(read(input), context), {
          historicalCoverageStartBlock: context.head.startBlock,
        });
    },
  };
}
