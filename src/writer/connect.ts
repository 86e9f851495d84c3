/** Connecting to the node, and choosing where the index begins. */
import { UpstreamError } from '../errors.ts';
import { backoffMs, pause } from '../lib/backoff.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import { type LoadRules, loadBlocks } from '../sync/load-blocks.ts';
import { fetchNodeHead, wrongChainError } from '../sync/node-chain.ts';
import { findOldestAvailable } from '../sync/oldest-available.ts';
import type { Capabilities } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { fetchChainId } from '../upstream/methods.ts';
import { isBusy } from '../upstream/node-errors.ts';
import { probeCapabilities } from '../upstream/probe.ts';
import type { IndexerContext } from './indexer-context.ts';
import type { WriterOptions } from './protocol.ts';
import { reportFailure, retryWriteAndReport } from './report-failure.ts';
import type { WriterLog } from './writer-log.ts';

/** Shortest and longest wait between retries while the node gives no usable answer, milliseconds. */
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;

/** Probes the node until it answers; null when stopped first. Throws FatalError for a node on another chain. */
export async function connect(
  options: WriterOptions,
  context: IndexerContext,
  signal: AbortSignal,
): Promise<Capabilities | null> {
  return requestWithRetry(context, signal, async () => {
    const capabilities = await probeCapabilities(
      context.client,
      { traces: options.index.traces, head: options.index.head },
      signal,
    );
    requireSameChain(context.store, capabilities.chainId);
    context.progress.setCapabilities(capabilities);
    context.log.info({ ...capabilities }, 'connected to the node');
    return capabilities;
  });
}

/**
 * Throws FatalError when the node is on another chain than the index: that would look like a reorg of everything, or
 * like new blocks where both chains agree. False when the signal aborts before the node has answered.
 */
export async function confirmSameChain(context: IndexerContext, signal: AbortSignal): Promise<boolean> {
  const found = await requestWithRetry(context, signal, () => fetchChainId(context.client, signal));
  if (found !== null) requireSameChain(context.store, found);
  return found !== null;
}

function requireSameChain(store: IndexWriter, found: number): void {
  const indexed = store.chain();
  if (indexed !== null && indexed.chainId !== found) throw wrongChainError(indexed.chainId, found);
}

/**
 * The index's first block: its existing one, or the configured start, or the oldest block that the node still has. Null
 * when the signal aborts before that is known.
 */
export async function chooseStart(
  options: WriterOptions,
  context: IndexerContext,
  capabilities: Capabilities,
  rules: LoadRules,
  signal: AbortSignal,
): Promise<number | null> {
  const { store, client, progress, log } = context;
  const begun = store.chain();
  // If the index has no blocks yet, the node may have pruned its first block meanwhile.
  if (begun !== null && store.head() !== null) {
    warnAboutOtherStart(options.index.startBlock, begun.startBlock, log);
    return begun.startBlock;
  }
  /** A pruning node goes on pruning: stays ahead of it by twice the blocks that the chain grew during the search. */
  const withPruningMargin = async (oldest: number, headBefore: number) => {
    const head = await fetchNodeHead(client, capabilities.headTag, signal);
    return Math.min(head.number, oldest + 2 * Math.max(0, head.number - headBefore));
  };
  const { startBlock } = options.index;
  log.info({ wanted: startBlock }, 'looking for the first block');
  const chosen = await requestWithRetry(context, signal, async () => {
    const head = await fetchNodeHead(client, capabilities.headTag, signal);
    const wanted = startBlock === 'earliest' ? 0 : startBlock === 'latest' ? head.number : startBlock;
    const oldest = await findOldestAvailable(wanted, head.number, async (number, withRetries) => {
      const tries = withRetries ? AVAILABLE_TRIES : 1;
      const ask = () => isAvailable(client, rules, number, tries, signal);
      const answer = await requestWithRetry(context, signal, ask); // of this block: not all is to be asked again
      if (answer === null) throw signal.reason;
      return answer;
    });
    const first = oldest === wanted ? oldest : await withPruningMargin(oldest, head.number);
    if (first !== wanted) {
      const advice = rules.traces === null ? null : TRACES_ADVICE;
      log.warn(
        { wanted, first, advice },
        'the node has pruned the wanted start; indexing begins at its oldest block',
      );
    }
    return first;
  });
  if (chosen === null) return null;
  if (!(await retryWriteAndReport(context, () => store.setChain(capabilities.chainId, chosen), signal)))
    return null;
  progress.setStartBlock(chosen);
  return chosen;
}

/** The start of an index cannot be changed; warns when another one is configured. */
function warnAboutOtherStart(
  wanted: WriterOptions['index']['startBlock'],
  begun: number,
  log: WriterLog,
): void {
  if (typeof wanted !== 'number' || wanted === begun) return;
  log.warn(
    { wanted, first: begun },
    'the index begins at another block than index.start_block, which counts for a new index only',
  );
}

/** A node that is not an archive drops the state needed for tracing long before it drops blocks. */
const TRACES_ADVICE = 'with index.traces = false older blocks may be had, without internal transfers';

/** Repeats `request` until the node gives a usable answer, with growing pauses; null when the signal aborts first. */
async function requestWithRetry<T>(
  context: IndexerContext,
  signal: AbortSignal,
  request: () => Promise<T>,
): Promise<T | null> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof UpstreamError)) throw error;
      const wait = backoffMs(attempt, RETRY_MIN_MS, RETRY_MAX_MS);
      reportFailure(context, error, wait);
      await pause(wait, signal);
    }
  }
  return null;
}

/** Tries before a block counts as pruned, and the wait between them: a busy node also answers "not found". */
const AVAILABLE_TRIES = 3;
const AVAILABLE_RETRY_MS = 300;

/** Whether the node still has a block with its receipts and, if wanted, traces. Throws errors that may pass. */
async function isAvailable(
  client: RpcClient,
  rules: LoadRules,
  number: number,
  tries: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; attempt <= tries; attempt++) {
    if (attempt > 1) await pause(AVAILABLE_RETRY_MS, signal);
    try {
      await loadBlocks(client, rules, number, number, signal);
      return true;
    } catch (error) {
      if (!(error instanceof UpstreamError) || isBusy(error)) throw error;
      if (error.reason !== 'inconsistent' && error.reason !== 'rpc') throw error;
    }
  }
  return false;
}
