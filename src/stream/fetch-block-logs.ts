/** The logs of one block, asked for by its hash. */
import { UpstreamError } from '../errors.ts';
import { backoffMs, pause } from '../lib/backoff.ts';
import { isObject } from '../lib/is-object.ts';
import { previewValue } from '../lib/preview-value.ts';
import type { Logger } from '../log.ts';
import type { RpcClient } from '../upstream/client.ts';
import { isUnreachable } from '../upstream/node-errors.ts';
import { jsonOf, malformed } from '../upstream/reply.ts';
import { type ChainBlock, readFetchedBlock } from './chain-block.ts';
import { type CloseFrame, logsUnavailable } from './close-frames.ts';
import type { NodeLog } from './log-filter.ts';

/** Milliseconds before the first retry, and the longest wait before a later one. */
const RETRY_MS = { first: 20, longest: 2_000 };
/** Unusable answers after which the logs of a block count as unavailable: about ten seconds. */
const MAX_TRIES = 12;
/** Empty answers, although the header says there are logs, after which the node is asked whether it has the block. */
const MAX_EMPTY = 5;

/** Most blocks that may wait for their logs: hours of the fastest chain. Beyond that the stream gives up. */
export const MAX_QUEUED_BLOCKS = 16_384;

/** A log with its JSON text as it is sent. */
export interface SerializedLog extends NodeLog {
  json: string;
}

/**
 * The logs of a block in order, requested until the node gives them; null when the block was orphaned meanwhile or the
 * signal aborts. Rejects with UpstreamError when they are unavailable, but waits for an unreachable node without limit:
 * the caller must bound the blocks that arrive meanwhile.
 */
export async function fetchBlockLogs(
  client: Pick<RpcClient, 'call'>,
  block: ChainBlock,
  signal: AbortSignal,
  retryMs = RETRY_MS,
): Promise<SerializedLog[] | null> {
  let isKnown = false;
  let unanswered = 0;
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted || block.orphaned) return null;
    try {
      const logs = readLogs(await client.call('eth_getLogs', [{ blockHash: block.hash }], signal), block);
      if (logs.length > 0 || block.isEmpty || isKnown) return logs;
      // Most blocks without bits in their bloom have no logs: they are not asked for again and again.
      if (!block.hasLogs || attempt - unanswered >= MAX_EMPTY) {
        await requireBlock(client, block, signal);
        isKnown = true;
        continue;
      }
    } catch (error) {
      if (signal.aborted || block.orphaned) return null;
      if (!(error instanceof UpstreamError)) throw error;
      if (isUnreachable(error)) unanswered++;
      else if (attempt - unanswered >= MAX_TRIES) throw error;
    }
    await pause(backoffMs(attempt, retryMs.first, retryMs.longest), signal);
  }
}

/** Logs that a block's logs are unavailable and returns how to close the connections that miss them. Rethrows others. */
export function reportLogsUnavailable(error: unknown, { number }: ChainBlock, log: Logger): CloseFrame {
  if (!(error instanceof UpstreamError)) throw error;
  log.error({ err: error, block: number }, 'the logs of a block cannot be had');
  return logsUnavailable(number);
}

/**
 * Rejects with UpstreamError unless the node has the block. For a block that it does not have, Monad answers with no
 * logs, so an empty answer is believed only if it was given after this check.
 */
async function requireBlock(
  client: Pick<RpcClient, 'call'>,
  block: ChainBlock,
  signal: AbortSignal,
): Promise<void> {
  const method = 'eth_getBlockByHash';
  const found = await client.call(method, [block.hash, false], signal);
  requireHash(readFetchedBlock(found, method, null).hash, block, method);
}

/** Throws UpstreamError; `inconsistent` for logs of another block, which Monad gives when a block was replaced. */
function readLogs(value: unknown, block: ChainBlock): SerializedLog[] {
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
  throw new UpstreamError('inconsistent', `${method}: asked for block ${number} (${hash}), got ${got}`);
}

/** The members of a log that filters look at, in lower case. Throws UpstreamError `malformed` when it is not a log. */
export function readNodeLog(item: unknown, what: string): NodeLog {
  if (!isObject(item)) throw malformed(what, `${previewValue(item)} is not a log`);
  const { address, topics, blockNumber, blockHash, logIndex } = item;
  if (
    typeof address !== 'string' ||
    typeof blockNumber !== 'string' ||
    typeof blockHash !== 'string' ||
    typeof logIndex !== 'string' ||
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
