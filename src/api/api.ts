/** The REST API over one index: its endpoints with prepared statements, and the commit they read from. */
import { isObject } from '../lib/text.ts';
import type { ReadFailures, Recheck } from '../query/read-failures.ts';
import type { Head, Snapshot } from '../query/snapshot.ts';
import { OverBudgetError, unitBudget } from '../query/work-budget.ts';
import { apiResult, type Caller, type Endpoint, type EndpointSource, notReady } from './endpoint.ts';
import { ENDPOINTS } from './endpoints/endpoints.ts';
import type { NodeAnswer, NodeReads } from './node-reads.ts';
import type { ApiResult, ReadPool } from './read-pool/read-pool.ts';

/** Work units (query/work-budget.ts) that one answer may cost the event loop: 2 ms at most, usually less. */
const LOOP_BUDGET = 20_000;

export interface PreparedEndpoint {
  endpoint: Endpoint;
  /** Only of a named query, which runs in a process of its own. */
  named?: NamedTraits;
  /**
   * Answers `input`, the query's text values or the parsed body of a POST. A read thread takes over long work.
   * `caller.head` must come from `head()` in this turn of the event loop. Throws or rejects with RequestError.
   */
  handle(input: unknown, caller: Caller): ApiResult | Promise<ApiResult>;
}

/** Who asks. */
export interface QueryCaller {
  /** The configured tier whose limits apply. */
  tier: string;
  /** The key that visitors of the explorer share. */
  isPublic: boolean;
}

export interface NamedTraits {
  /** Whether the same commit always gives the same answer. */
  isRepeatable: boolean;
  mayCall(caller: QueryCaller): boolean;
  /** Throws RequestError `tier_limit` unless the caller may call it. */
  requireCaller(caller: QueryCaller): void;
}

type Handle = PreparedEndpoint['handle'];

/** Out of line, so that a successful request does not allocate the closure. */
function recheckOf(handle: Handle, input: unknown, caller: Caller): Recheck {
  return () => handle(input, caller);
}

/** A head whose revision also changes with labels and named queries, so that cached answers show new ones. */
function revisedHead(head: Head, revision: number): Head {
  return { ...head, revision: head.revision + revision * 2 ** 32 };
}

/** Finds out in the background whether wallets are contracts. */
export type Examine = (wallets: readonly number[]) => void;

export interface Api {
  endpoints: readonly PreparedEndpoint[];
  /** The head of the commit that answers come from; null before the first indexed block. */
  head(): Head | null;
}

/** Prepares all statements, so that bad SQL fails at startup. `snapshot` and `source` share one connection. */
export function prepareApi(
  source: EndpointSource,
  snapshot: Snapshot,
  readers: Pick<ReadPool, 'run'>,
  failures: Pick<ReadFailures, 'record'>,
  node: NodeReads,
  examine: Examine,
): Api {
  /** Drops the snapshot, because a failed read may leave its transaction in any state. */
  const endTurn = (error: unknown, recheck?: Recheck): unknown => {
    const translated = failures.record(error, recheck);
    if (translated !== error) snapshot.discard();
    return translated;
  };
  const examined = (result: ApiResult): ApiResult => {
    if (result.unexamined !== undefined) examine(result.unexamined);
    return result;
  };
  const runInThread = (
    path: string,
    handle: Handle,
    input: unknown,
    caller: Caller,
    nodeAnswer?: NodeAnswer,
  ): Promise<ApiResult> =>
    readers.run(path, input, caller.chainDepth, caller.head, nodeAnswer).then(examined, (error: unknown) => {
      throw failures.record(error, recheckOf(handle, input, caller));
    });
  const currentHead = (): Head | null => {
    try {
      const head = snapshot.head();
      const revision = (source.labels?.revision ?? 0) + (source.queries?.revision ?? 0);
      return head === null || revision === 0 ? head : revisedHead(head, revision);
    } catch (error) {
      throw endTurn(error, () => snapshot.head());
    }
  };
  const prepareEndpoint = (endpoint: Endpoint): PreparedEndpoint => {
    const handler = endpoint.prepare(source);
    const { askNode, complete, nodeParameter } = endpoint;
    const read = (input: unknown, caller: Caller, nodeAnswer?: NodeAnswer): ReturnType<Handle> => {
      const { head, chainDepth } = caller;
      try {
        const context = { head, chainDepth, budget: unitBudget(LOOP_BUDGET), nodeAnswer, unexamined: [] };
        return examined(apiResult(endpoint, input, handler(input, context), context));
      } catch (error) {
        if (!(error instanceof OverBudgetError)) throw endTurn(error, recheckOf(handle, input, caller));
        return runInThread(endpoint.path, handle, input, caller, nodeAnswer);
      }
    };
    const readWithNode = (input: unknown, caller: Caller): ReturnType<Handle> => {
      const asked = askNode?.(input, node, caller.head);
      if (asked === undefined) return read(input, caller);
      return asked.then((nodeAnswer) => {
        const head = currentHead(); // the head of this turn: commits may have followed meanwhile
        if (head === null) throw notReady();
        return read(input, { ...caller, head }, nodeAnswer);
      });
    };
    const readAndComplete = async (
      input: Record<string, unknown>,
      caller: Caller,
      completeAnswer: NonNullable<typeof complete>,
    ): Promise<ApiResult> => {
      const { head, body } = await readWithNode({ ...input, format: 'json' }, caller);
      const answer: Record<string, unknown> = JSON.parse(body);
      await completeAnswer(input, answer, node);
      return apiResult(endpoint, input, answer, { head, unexamined: [] });
    };
    const handle: Handle = (input, caller) => {
      if (nodeParameter !== undefined && !(isObject(input) && nodeParameter in input))
        return read(input, caller);
      if (complete !== undefined && isObject(input)) return readAndComplete(input, caller, complete);
      return readWithNode(input, caller);
    };
    return { endpoint, handle };
  };
  return { endpoints: ENDPOINTS.map(prepareEndpoint), head: currentHead };
}
