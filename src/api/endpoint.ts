/** A REST endpoint: data about its parameters and answer, and the function that gives the answer. */
import { z } from 'zod';
import type { Head } from '../query/snapshot.ts';
import type { WalletIdCache } from '../query/wallet-id-cache.ts';
import type { WorkBudget } from '../query/work-budget.ts';
import type { Db } from '../store/open-database.ts';
import { inputParser } from './input-parser.ts';

/** What endpoints read from. Statements are prepared once, at boot. */
export interface IndexSource {
  db: Db;
  /** Of the same connection. */
  walletIds: WalletIdCache;
  /** Symbol of the chain's own coin. */
  nativeSymbol: string;
}

/** What an answer depends on besides its parameters. */
export interface Caller {
  /** The last block of the commit being read. */
  head: Head;
  /** Largest `depth` of funding_chain for the caller. */
  chainDepth: number;
}

interface RequestContext extends Caller {
  /** Limits the work for the answer. */
  budget: WorkBudget;
}

/** Returns the answer, a plain object for JSON. `input` is the query's text values, or the parsed body of a POST. */
export type EndpointHandler = (input: unknown, context: RequestContext) => object;

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
  prepare(source: IndexSource): EndpointHandler;
}

/** What every answer carries. */
const COVERAGE = { historicalCoverageStartBlock: z.int().min(0).describe('First block of the index') };

/** Defines an endpoint. Adds `historicalCoverageStartBlock` to its answers, and checks input before passing it on. */
export function defineEndpoint<P extends z.ZodRawShape, R extends z.ZodRawShape>(definition: {
  method: 'GET' | 'POST';
  path: `/api/${string}`;
  summary: string;
  params: P;
  response: R;
  example: { params: z.input<z.ZodObject<P>>; response: z.output<z.ZodObject<R>> };
  tierLimited?: boolean;
  prepare(
    source: IndexSource,
  ): (params: z.output<z.ZodObject<P>>, context: RequestContext) => z.output<z.ZodObject<R>>;
}): Endpoint {
  const params = z.object(definition.params);
  const parse = inputParser(params, definition.method === 'GET' ? 'invalid_parameter' : 'invalid_body');
  return {
    ...definition,
    params,
    response: z.object({ ...definition.response, ...COVERAGE }),
    prepare(source) {
      const handler = definition.prepare(source);
      return (input, context) =>
        Object.assign(handler(parse(input), context), {
          historicalCoverageStartBlock: context.head.startBlock,
        });
    },
  };
}
