/** The query of an `eth_getLogs`: its block range, and the rest of its filter as the client sent it. */
import { toQuantity } from '../../lib/hex.ts';
import { isObject } from '../../lib/text.ts';
import { topicsMistake, withoutTrailingWildcards } from '../../model/log-topics.ts';
import { unknownMemberText } from '../../model/unknown-member.ts';
import { type Call, createCall } from '../call.ts';
import { RpcCode, type RpcError } from '../errors.ts';

/** A bound of a range: a height, or a tag that the node resolves. */
export type BlockParam = number | (typeof TAGS)[number];
const TAGS = ['earliest', 'latest', 'pending', 'safe', 'finalized'] as const;

export interface LogsQuery {
  from: BlockParam;
  to: BlockParam;
  /** The rest of the filter, as the client sent it. */
  rest: Readonly<Record<string, unknown>>;
}

const QUANTITY = /^0x[0-9a-f]+$/;
const DECIMAL = /^\d+$/;

type FilterObject = Readonly<Record<string, unknown>>;

/** The standard members of a filter. */
const MEMBERS = ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash'];

/**
 * The filter as sent to the node, or the refusal of one that a node might read in another way than meant: nodes that
 * match names case-insensitively (geth) would take `FROMBLOCK` for the range, others would ignore it. The same object
 * when there is nothing to change.
 */
export function normalizeFilter(filter: FilterObject): { filter: FilterObject } | { error: RpcError } {
  const mistake = unknownMemberText(filter, MEMBERS) ?? topicsMistake(filter.topics);
  if (mistake !== null) return { error: { code: RpcCode.invalidParams, message: mistake } };
  if (!Array.isArray(filter.topics)) return { filter };
  const topics = withoutTrailingWildcards(filter.topics);
  return { filter: topics === filter.topics ? filter : { ...filter, topics } };
}

/**
 * Longest filter that is stored or sent with each part of a range, in characters of JSON: enough for geth's limits of
 * 1,000 addresses and 1,000 topics per position. Sending 2 MB a hundred times would block the event loop for half a
 * second.
 */
const MAX_FILTER_CHARS = 400_000;

/** The refusal of a filter that is too long to store or repeat, or null. */
export function longFilterError(filter: object): RpcError | null {
  if (JSON.stringify(filter).length <= MAX_FILTER_CHARS) return null;
  const message = `a filter of more than ${MAX_FILTER_CHARS} characters; name fewer addresses or topics`;
  return { code: RpcCode.invalidParams, message };
}

/**
 * The call with a normalized filter, its parameters parsed once for all readers, or its refusal. A call with more than
 * one filter is refused: some nodes ignore extra parameters, or read an object of named parameters.
 */
export function normalizeCall({ method, params, args }: Call): Call | { error: RpcError } {
  if (!Array.isArray(args) || args.length > 1) return NOT_ONE_FILTER;
  const [given]: unknown[] = args;
  if (!isObject(given)) return { method, params, args };
  const normalized = normalizeFilter(given);
  if ('error' in normalized) return normalized;
  const { filter } = normalized;
  return filter === given ? { method, params, args } : createCall(method, [filter]);
}

const NOT_ONE_FILTER: { error: RpcError } = {
  error: { code: RpcCode.invalidParams, message: 'eth_getLogs takes an array of one filter' },
};

/** The query in the parameters. Null when it has no range, or when the node itself should refuse it. */
export function readLogsQuery(args: unknown): LogsQuery | null {
  if (!Array.isArray(args)) return null;
  const [filter]: unknown[] = args;
  if (!isObject(filter)) return null;
  const { fromBlock, toBlock, ...rest } = filter;
  const from = readBlockParam(fromBlock);
  const to = readBlockParam(toBlock);
  return from === null || to === null || (rest.blockHash ?? '') !== '' ? null : { from, to, rest };
}

/** Parameters for a chunk of the range. */
export function chunkParams({ rest }: LogsQuery, from: number, to: BlockParam): unknown[] {
  return [{ ...rest, fromBlock: toQuantity(from), toBlock: typeof to === 'number' ? toQuantity(to) : to }];
}

/** The height of the last block in these parameters; null if it is a tag. */
export function lastBlockOf(params: readonly unknown[]): number | null {
  const to = readLogsQuery(params)?.to;
  return typeof to === 'number' ? to : null;
}

/**
 * A missing bound means `latest`, as in nodes. Accepts every form that some node accepts (anvil, reth and Nethermind:
 * tags in any case; Nethermind: decimal numbers), because an unrecognised range would escape the limit.
 */
function readBlockParam(value: unknown): BlockParam | null {
  if (value === undefined || value === null || value === '') return 'latest';
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).trim().toLowerCase();
  if (QUANTITY.test(text) || DECIMAL.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  return TAGS.find((tag) => tag === text) ?? null;
}
