/** Fetches the logs of one block by its hash. */

import { type ChainBlock, readFetchedBlock } from '../../chain/block.ts';
import { backoffMs, pause } from '../../lib/async.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { spelledQuantity } from '../../lib/hex.ts';
import { isObject, previewValue } from '../../lib/text.ts';
import type { Logger } from '../../log/logger.ts';
import type { RpcCall, RpcClient, RpcReply } from '../../node/client.ts';
import { isUnreachable } from '../../node/node-errors.ts';
import { jsonOf, malformed } from '../../node/reply.ts';
import { type CloseFrame, logsUnavailable } from '../close.ts';
import type { NodeLog } from './log-filter.ts';

/** Shortest and longest backoff, milliseconds. */
const RETRY_MS = { first: 20, longest: 2_000 };
/** Unusable answers after which a block's logs count as unavailable: about ten seconds. */
const MAX_TRIES = 12;
/** Empty answers, despite bits in the header's bloom, after which the node must prove that it has the block. */
const MAX_EMPTY = 5;

/** Most blocks queued for their logs: hours on the fastest chain. Beyond this the stream closes its clients. */
export const MAX_QUEUED_BLOCKS = 16_384;

export type LogsClient = Pick<RpcClient, 'call' | 'batch'>;

/** A log with its JSON text as sent. */
export interface SerializedLog extends NodeLog {
  json: string;
}

/**
 * The logs of a block in order, retried until the node returns them; null when the block is orphaned meanwhile or the
 * signal aborts. Rejects with UpstreamError when the logs are unavailable, but waits for an unreachable node without
 * limit, so the caller must bound the blocks that arrive meanwhile.
 */
export async function fetchBlockLogs(
  client: LogsClient,
  block: ChainBlock,
  signal: AbortSignal,
  retryMs = RETRY_MS,
): Promise<SerializedLog[] | null> {
  let unanswered = 0;
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted || block.orphaned) return null;
    try {
      const { method, params } = logsCall(block);
      const logs = readLogs(await client.call(method, params, signal), block);
      if (logs.length > 0 || block.isEmpty) return logs;
      // Most blocks without bits in their bloom have no logs, so one proven answer is enough.
      if (!block.hasLogs || attempt - unanswered >= MAX_EMPTY)
        return await fetchProven(client, block, signal);
    } catch (error) {
      if (signal.aborted || block.orphaned) return null;
      if (!(error instanceof UpstreamError)) throw error;
      if (isUnreachable(error)) unanswered++;
      else if (attempt - unanswered >= MAX_TRIES) throw error;
    }
    await pause(backoffMs(attempt, retryMs.first, retryMs.longest), signal);
  }
}

/**
 * Logs that a block's logs are unavailable, and returns the frame that closes the clients that need them. Rethrows
 * anything but an UpstreamError.
 */
export function reportLogsUnavailable(error: unknown, { number }: ChainBlock, log: Logger): CloseFrame {
  if (!(error instanceof UpstreamError)) throw error;
  log.error(
    { err: error, block: number },
    'cannot fetch the logs of a block; closing the clients that need them',
  );
  return logsUnavailable(number);
}

/**
 * The logs from a node that provably has the block; otherwise rejects with UpstreamError. Monad answers with no logs
 * for a block that it lacks, so an empty answer counts only with the block's header in the same batch: behind a load
 * balancer, another request may reach another node.
 */
async function fetchProven(
  client: LogsClient,
  block: ChainBlock,
  signal: AbortSignal,
): Promise<SerializedLog[]> {
  const headerCall = { method: 'eth_getBlockByHash', params: [block.hash, false] };
  const [header, logs] = (await client.batch([headerCall, logsCall(block)], signal)).map(requireResult);
  requireHash(readFetchedBlock(header, headerCall.method, null).hash, block, headerCall.method);
  return readLogs(logs, block);
}

function logsCall({ hash }: ChainBlock): RpcCall {
  return { method: 'eth_getLogs', params: [{ blockHash: hash }] };
}

function requireResult(reply: RpcReply): unknown {
  if ('error' in reply) throw reply.error;
  return reply.result;
}

/** Throws UpstreamError; `inconsistent` for logs of another block, which Monad returns once a block was replaced. */
function readLogs(value: unknown, block: ChainBlock): SerializedLog[] {
  if (value === null) return []; // as Go nodes send an empty list
  if (!Array.isArray(value)) throw malformed('eth_getLogs', `result is ${previewValue(value)}, not a list`);
  return value.map((item: unknown) => readLog(item, block));
}

function readLog(item: unknown, block: ChainBlock): SerializedLog {
  const log = readNodeLog(item, 'eth_getLogs');
  requireHash(log.blockHash, block, 'eth_getLogs');
  return { ...log, json: jsonOf(item, 'eth_getLogs') };
}

function requireHash(got: string, { hash, number }: ChainBlock, method: string): void {
  if (got === hash) return;
  throw new UpstreamError('inconsistent', `${method}: requested block ${number} (${hash}), got ${got}`);
}

/** The log fields that filters read, in lower case. Throws UpstreamError `malformed` for anything but a log. */
export function readNodeLog(item: unknown, what: string): NodeLog {
  if (!isObject(item)) throw malformed(what, `${previewValue(item)} is not a log`);
  const { address, blockHash } = item;
  const topics = item.topics === null ? [] : item.topics; // Go nodes send an empty list as null
  const blockNumber = spelledQuantity(item.blockNumber);
  const logIndex = spelledQuantity(item.logIndex);
  if (
    typeof address !== 'string' ||
    blockNumber === null ||
    typeof blockHash !== 'string' ||
    logIndex === null ||
    !Array.isArray(topics) ||
    !topics.every((topic) => typeof topic === 'string')
  ) {
    throw malformed(what, `${previewValue(item)} is not a log`);
  }
  return {
    address: address.toLowerCase(),
    topics: topics.map((topic) => topic.toLowerCase()),
    blockNumber,
    blockHash: blockHash.toLowerCase(),
    logIndex,
  };
}
