/** Connects to the node and chooses the first block of the index. */

import { IncompleteBlockError } from '../decode/block-checks.ts';
import { pause, retry } from '../lib/async.ts';
import { ConfigError, UpstreamError } from '../lib/errors.ts';
import { RepeatLimit } from '../lib/limits.ts';
import { settingName } from '../lib/setting-name.ts';
import type { ThreadLog } from '../log/logger.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import type { IndexRules } from '../model/index-rules.ts';
import {
  type Capabilities,
  type IndexStatus,
  traceGapsAdvice,
  traceGapsText,
} from '../model/index-status.ts';
import { probeCapabilities } from '../node/capabilities.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchBlockNumber, fetchChainId, fetchHeader } from '../node/methods.ts';
import { isReason, wordsOf } from '../node/node-errors.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import { type LoadRules, loadRange } from './backfill/load-blocks.ts';
import {
  type AskBlock,
  type Availability,
  type AwaitProof,
  findOldestAvailable,
  type OldestBlock,
  stayAheadOfPruning,
} from './backfill/oldest-available.ts';
import { ChainMismatchError } from './chain-guard.ts';
import type { IndexerContext } from './indexer-context.ts';
import { checkNewestHeader } from './newest-header.ts';
import { type FollowedHead, fetchNodeHead, wrongChainError } from './node-chain.ts';
import type { IndexerThreadOptions } from './protocol.ts';
import { MissingPart, MissingReceipts } from './require-transactions.ts';
import { reportFailure, retryWriteAndReport } from './retry-write.ts';
import { findHeaderProof } from './root-check.ts';
import { LastingWords, TracingRefusal, TracingRefusedError } from './tracing-refusal.ts';

/** Backoff while the node gives no usable answer, milliseconds. */
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;

/** Interval of the advice while the node has not answered, milliseconds. */
const ADVICE_MS = 60_000;

function connectAdvice({ httpStatus }: Pick<UpstreamError, 'httpStatus'>): string {
  const address = settingName('node_http');
  return httpStatus === 401 || httpStatus === 403
    ? `the node demands a key or a password: put it into ${address}, as in ` +
        'http://user:password@host, or ' +
        `into ${settingName('node.headers')}`
    : `start the node, or correct ${address}; indexing starts as soon as it answers`;
}

/**
 * Probes the node until it answers; null when the signal aborts first. Throws FatalError for a node on another chain.
 */
export async function connect(
  options: IndexerThreadOptions,
  context: IndexerContext,
  signal: AbortSignal,
): Promise<Capabilities | null> {
  const advise = new RepeatLimit(ADVICE_MS);
  const onFailure = (error: UpstreamError) => {
    if (!(error instanceof TracingRefusedError) && advise.allows('connect'))
      context.log.warn({ reason: error.message, advice: connectAdvice(error) }, 'waiting for the node');
  };
  const refusal = new TracingRefusal(context.store, options.index.confirmMs);
  const onTracingRefused = (words: string) => refusal.settle(words);
  const unnamed = new LastingWords(options.index.confirmMs);
  const onUnnamed = (error: UpstreamError) => {
    if (!unnamed.hear(error.message)) throw error;
  };
  const probe = async () => {
    const { traces, head, finality } = options.index;
    const wanted = { traces, head, finality, onTracingRefused, onUnnamed };
    const capabilities = await probeCapabilities(context.client, wanted, signal);
    requireSameChain(context.store, capabilities.chainId, options.nodes.length);
    if (options.tracesHttp !== '') await requireTracesOfChain(context.client, capabilities.chainId, signal);
    await checkNewestHeader(context, signal);
    context.progress.setCapabilities(capabilities);
    context.log.info({ ...capabilities }, 'connected to the node');
    return capabilities;
  };
  return requestWithRetry(context, signal, probe, onFailure);
}

/** With other nodes to switch to, a wrong one is no reason to stop. */
function requireSameChain(store: IndexWriter, found: number, nodeCount: number): void {
  const indexed = store.chain();
  if (indexed === null || indexed.chainId === found) return;
  const error = wrongChainError(indexed.chainId, found);
  throw nodeCount === 1 ? error : new ChainMismatchError('another_chain', error.message);
}

/** Throws UpstreamError when the trace node is on another chain than the node in use. */
async function requireTracesOfChain(client: RpcClient, chainId: number, signal: AbortSignal): Promise<void> {
  const { tracing } = client;
  const found = await fetchChainId(tracing, signal);
  const differs = (what: string) =>
    new UpstreamError('inconsistent', `the ${settingName('node_traces')} node is on another chain: ${what}`);
  if (found !== chainId) throw differs(`its chain id is ${found}, not ${chainId}`);
  const heads = await Promise.all([client, tracing].map((node) => fetchBlockNumber(node, signal)));
  const common = Math.min(...heads);
  const [own, other] = await Promise.all([client, tracing].map((node) => fetchHeader(node, common, signal)));
  if (own && other && own.hash !== other.hash)
    throw differs(`its block ${common} is ${other.hash}, not ${own.hash}`);
}

interface StartFacts {
  capabilities: Capabilities;
  followed: FollowedHead;
  rules: LoadRules;
  made: IndexRules;
}

/**
 * The index's first block: the existing one, else the configured start, else the oldest block that the node still has.
 * `made`: the rules that a new index records. Null when the signal aborts first.
 */
export async function chooseStart(
  options: IndexerThreadOptions,
  context: IndexerContext,
  { capabilities, followed, rules, made }: StartFacts,
  signal: AbortSignal,
): Promise<number | null> {
  const { store, client, progress, log } = context;
  const begun = store.chain();
  // While the index is empty, the node may have pruned the chosen first block.
  if (begun !== null && store.head() !== null) {
    warnAboutOtherStart(options.index.startBlock, begun.startBlock, log);
    return begun.startBlock;
  }
  const { startBlock } = options.index;
  log.info({ wanted: startBlock }, 'looking for the first block');
  const ask: AskBlock = async (number) => {
    const once = () => askBlock(client, rules, number, signal);
    const answer = await requestWithRetry(context, signal, once); // retries this block only, not the whole search
    if (answer === null) throw signal.reason;
    return answer;
  };
  const awaitProof: AwaitProof = async (border) => {
    log.info(
      { ...border, seconds: PROOF_MS / 1000 },
      'making sure that the node has pruned the blocks below',
    );
    await pause(options.index.confirmMs ?? PROOF_MS, signal);
    signal.throwIfAborted();
  };
  const head = async () => (await fetchNodeHead(client, followed, signal)).number;
  const chosen = await requestWithRetry(context, signal, async () => {
    const headBefore = await head();
    const wanted = startBlock === 'earliest' ? 0 : startBlock === 'latest' ? headBefore : startBlock;
    const oldest = await findOldestAvailable(wanted, headBefore, ask, awaitProof);
    if (oldest.number === wanted) return wanted;
    if (typeof startBlock === 'number') throw prunedStart(startBlock, oldest, rules);
    const headAfter = (last: number) => waitForGrowth(head, last, signal);
    const first = await stayAheadOfPruning(oldest.number, { headBefore, head, headAfter }, ask);
    warnAboutMissingStart(wanted, oldest.number, first, rules, log);
    return first;
  });
  if (chosen === null) return null;
  const begin = () => store.setChain(capabilities.chainId, chosen, made);
  if (!(await retryWriteAndReport(context, begin, signal))) return null;
  progress.setStartBlock(chosen);
  return chosen;
}

/**
 * For `index.check_roots`: finds out whether the headers from the index's head on hash to their hashes. Returns false
 * when the signal aborts first.
 */
export async function proveHeaders(
  context: IndexerContext,
  rules: LoadRules,
  startBlock: number,
  signal: AbortSignal,
): Promise<boolean> {
  const known = context.store.head()?.number ?? startBlock;
  const proof = await requestWithRetry(context, signal, () =>
    findHeaderProof(context.client, [startBlock, known], signal),
  );
  if (proof !== null) rules.headerProof = proof;
  return proof !== null;
}

/** Warns about a changed index.start_block, which has no effect on an existing index. */
function warnAboutOtherStart(
  wanted: IndexerThreadOptions['index']['startBlock'],
  begun: number,
  log: ThreadLog,
): void {
  if (typeof wanted !== 'number' || wanted === begun) return;
  log.warn(
    { setting: settingName('index.start_block'), wanted, first: begun },
    'index.start_block differs from the first block of this index; it applies to new indexes only',
  );
}

/** How long the node must refuse the blocks below the oldest one, milliseconds. */
const PROOF_MS = 30_000;

/** The operator asked for blocks that the node does not have. */
function prunedStart(wanted: number, { number, words }: OldestBlock, { traces }: LoadRules): ConfigError {
  const reason = words === null ? 'it no longer has their data' : `it answers "${words}"`;
  const without =
    traces === null ? '' : `, or ${settingName('index.traces')} = false if only their traces are gone`;
  return new ConfigError(
    `${settingName('index.start_block')} is ${wanted}, but the node has pruned the blocks below ${number} ` +
      `(${reason}): use a node that has them (an archive node), or set ${settingName('index.start_block')} to ` +
      `"earliest" or to a block from ${number} on${without}`,
  );
}

/** How long to wait for the head to move, longer than the block time of most chains, and how often to read it. */
const GROWTH_WAIT_MS = 15_000;
const GROWTH_POLL_MS = 250;

/** The node's head once it exceeds `last`, or after the wait. */
async function waitForGrowth(
  head: () => Promise<number>,
  last: number,
  signal: AbortSignal,
): Promise<number> {
  const deadline = performance.now() + GROWTH_WAIT_MS;
  for (;;) {
    const now = await head();
    if (now > last || performance.now() > deadline || signal.aborted) return now;
    await pause(GROWTH_POLL_MS, signal);
  }
}

function warnAboutMissingStart(
  wanted: number,
  oldest: number,
  first: number,
  rules: LoadRules,
  log: ThreadLog,
): void {
  const advice = rules.traces === null ? null : tracesAdvice();
  const setting = settingName('index.start_block');
  if (first === oldest) {
    log.warn(
      { setting, wanted, first, advice },
      'the node no longer has index.start_block; the index begins at the oldest block it has',
    );
  } else {
    log.warn(
      { setting, wanted, oldest, first, advice },
      'the node prunes blocks as its chain grows; the index begins ahead of the oldest one',
    );
  }
}

/** A non-archive node drops the state needed for tracing long before it drops blocks. */
const tracesAdvice = () =>
  `with ${settingName('index.traces')} = false the index may reach older blocks, but without internal transfers`;

/** Repeats `request` with backoff until the node gives a usable answer; null when the signal aborts first. */
async function requestWithRetry<T>(
  context: IndexerContext,
  signal: AbortSignal,
  request: () => Promise<T>,
  onFailure: (error: UpstreamError) => void = () => undefined,
): Promise<T | null> {
  const answer = await retry(request, {
    firstMs: RETRY_MIN_MS,
    longestMs: RETRY_MAX_MS,
    signal,
    onFailure(error, _failures, waitMs) {
      if (!(error instanceof UpstreamError)) throw error;
      onFailure(error);
      reportFailure(context, error, waitMs);
    },
  });
  return answer ?? null;
}

/** Asks the node for all parts of a block. Throws when it gives no usable answer. */
async function askBlock(
  client: RpcClient,
  rules: LoadRules,
  number: number,
  signal: AbortSignal,
): Promise<Availability> {
  try {
    const [batch] = await loadRange(client, { ...rules, isProbe: true }, number, number, signal);
    const untraced = batch?.unsettled ?? null;
    if (batch === undefined || untraced === null) return { isServed: true, proves: hasContent(batch, rules) };
    if (untraced.isPartial || !untraced.isReasoned) return { isServed: true, proves: untraced.isPartial };
    return { isServed: false, words: batch.gaps[0]?.reason ?? '' };
  } catch (error) {
    if (error instanceof IncompleteBlockError) return { isServed: true, proves: true };
    if (error instanceof MissingReceipts && error.missing.hasOthers) return { isServed: true, proves: true };
    const lacks = error instanceof MissingPart || error instanceof MissingReceipts;
    if (lacks && error.reason === 'inconsistent') return { isServed: false, words: null };
    if (error instanceof UpstreamError && isReason(error))
      return { isServed: false, words: wordsOf(error.message) };
    throw error;
  }
}

/** Whether a pruning node would not have the block. */
function hasContent(batch: BlockBatch | undefined, { traces }: LoadRules): boolean {
  if (batch === undefined) return false;
  return traces === null ? batch.transferCount > 0 : batch.tracedBlock !== null;
}

/** The warning about missing internal transfers; null when none are missing. */
export function tracesWarning(
  { head, startBlock, untraced }: Pick<IndexStatus, 'head' | 'startBlock' | 'untraced'>,
  { traces, tracesReason }: Capabilities,
): { msg: string; fields: Record<string, unknown> } | null {
  if (head === null || startBlock === null) return null;
  if (traces !== null) {
    if (untraced === null) return null;
    return {
      msg: 'internal transfers of some blocks are missing',
      fields: { reason: traceGapsText(untraced), advice: traceGapsAdvice(untraced, head) },
    };
  }
  if (untraced?.blocks === head.number - startBlock + 1) return null;
  return {
    msg: 'the node offers no traces: internal transfers of new blocks will be missing',
    fields: { from: head.number + 1, reason: tracesReason },
  };
}
