/** The server's answers, with types from its own definitions. */
import type { AnswerOf, Endpoint } from '../../api/endpoint.ts';
import type * as endpoints from '../../api/endpoints/index.ts';
import type { describeStatus } from '../../server/http/health.ts';

type All = typeof endpoints;
type NameOf<E> = E extends { path: `/api/${infer Name}` } ? Name : never;

/** The answer of each endpoint by name, such as `wallet_summary`. */
export type Answers = {
  [K in keyof All as NameOf<All[K]>]: All[K] extends Endpoint ? AnswerOf<All[K]> : never;
};

export type EndpointName = keyof Answers;

type Params = {
  [K in keyof All as NameOf<All[K]>]: All[K] extends Endpoint ? All[K]['params']['shape'] : never;
};

type QueryValue = string | number | boolean | null;

/** The parameters of an endpoint. Null ones are omitted. */
export type Query<N extends EndpointName> = { [K in keyof Params[N]]?: QueryValue } & PlannedFilters;

/** Filters of address_transfers. */
interface PlannedFilters {
  token?: QueryValue;
  type?: QueryValue;
  counterparty?: QueryValue;
  min_mon?: QueryValue;
  since?: QueryValue;
  until?: QueryValue;
}

export type Status = ReturnType<typeof describeStatus>;

/** A transfer in any list; `direction` is present in a wallet's lists. */
export type Transfer = Omit<Answers['address_transfers']['transfers'][number], 'direction'> & {
  direction?: 'in' | 'out';
};
export type Hop = Answers['funding_chain']['chain'][number];

/** A transfer pushed by a stream. */
export type LiveTransfer = Transfer & { blockHash: string; removed?: boolean };
