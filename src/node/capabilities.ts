/** Probes the node's software, chain and features. */

import { FatalError, UpstreamError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import { isObject, previewValue } from '../lib/text.ts';
import { unwrapList } from '../lib/unwrap-list.ts';
import {
  FINAL_TAG,
  finalityOf,
  followedHead,
  followsFinal,
  type HeadTag,
  headTagFor,
  type WantedFinality,
} from '../model/finality.ts';
import type { Capabilities } from '../model/index-status.ts';
import type { RpcCall, RpcClient, RpcReply } from './client.ts';
import {
  fetchBlockNumber,
  fetchChainId,
  fetchClientVersion,
  fetchHeader,
  receiptCall,
  receiptsCall,
  type TraceMethod,
  traceCall,
} from './methods.ts';
import {
  haveSameWords,
  isMissingData,
  isNotRecorded,
  isReason,
  isUnknownMethod,
  wordsOf,
} from './node-errors.ts';
import { malformed } from './reply.ts';
import { batchTraces } from './trace-calls.ts';

export interface ProbeOptions {
  /** Whether to index internal native transfers (`index.traces`). */
  traces: boolean;
  /** `index.head`. */
  head: 'auto' | HeadTag;
  /** `chain.finality`. */
  finality: WantedFinality;
  /**
   * Decides on a node that refuses to trace any block, in words that do not say for how long: throws while it may pass,
   * and returns when the node counts as one without traces. Left out, it counts as one with traces.
   */
  onTracingRefused?: (words: string) => void;
  /** Decides on a node that fails to name its software: throws the error while it may pass. Left out, it may. */
  onUnnamed?: (error: UpstreamError) => void;
}

/**
 * Probes the node. Rejects with UpstreamError when it is unreachable or misbehaves (retry), with FatalError when it can
 * never serve this configuration.
 */
export async function probeCapabilities(
  client: RpcClient,
  options: ProbeOptions,
  signal?: AbortSignal,
): Promise<Capabilities> {
  const asked = [
    fetchSoftware(client, options.onUnnamed, signal),
    fetchChainId(client, signal),
    fetchBlockNumber(client, signal),
  ] as const;
  await Promise.allSettled(asked); // report failures in a fixed order, so that one problem always gives one message
  const [software, chainId, head] = await Promise.all(asked);
  const headTag = headTagFor(options.head, software);
  const { rule } = finalityOf(options.finality, { chainId, client: software });
  const { tag } = followedHead(headTag, rule);
  if (tag === options.head && followsFinal(tag)) await requireFinalized(client, software, signal);
  const followed = tag === 'latest' ? head : ((await fetchHeader(client, tag, signal))?.number ?? head);
  // Block 0 cannot be traced. Asked about block 1, a node at block 0 answers "not found" if it knows the method.
  const block = Math.max(1, followed);
  const [blockReceipts, traces] = await Promise.all([
    offersBlockReceipts(client, block, signal),
    options.traces ? findTraces(client.tracing, block, software, options, signal) : switchedOff(),
  ]);
  return { client: software, chainId, blockReceipts, headTag, ...traces };
}

/** Some providers offer no `web3_` methods, or forbid them in words of their own. */
const UNNAMED_SOFTWARE = 'unnamed software';

async function fetchSoftware(
  client: RpcClient,
  onUnnamed: ProbeOptions['onUnnamed'],
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    return (await fetchClientVersion(client, signal)) ?? UNNAMED_SOFTWARE;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    if (isUnknownMethod(error) || isReason(error)) return UNNAMED_SOFTWARE;
    if (error.reason !== 'rpc' || onUnnamed === undefined) throw error;
    onUnnamed(error);
    return UNNAMED_SOFTWARE;
  }
}

type Traces = Pick<Capabilities, 'traces' | 'tracesReason'>;

const switchedOff = (): Traces => ({
  traces: null,
  tracesReason: `switched off by ${settingName('index.traces')}`,
});

async function requireFinalized(
  client: RpcClient,
  software: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const head = settingName('index.head');
  const advice = `set ${head} to "latest" or "auto"`;
  let block: unknown;
  try {
    block = await fetchHeader(client, FINAL_TAG, signal);
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.code === undefined) throw error;
    if (error.code === -32602 && !isMissingData(error)) {
      throw new FatalError(`${head} is "finalized" but ${software} does not know that tag: ${advice}`, {
        cause: error,
      });
    }
    // geth without a consensus client answers with varying errors; Monad answers that it has no such block.
    throw new UpstreamError(
      error.reason,
      `${head} is "finalized": ${error.message}; if this persists, ${advice}`,
      error.code,
    );
  }
  if (block !== null) return;
  throw new UpstreamError(
    'inconsistent',
    `${head} is "finalized" but ${software} has no finalized block yet; if this persists, ${advice}`,
  );
}

/** Throws UpstreamError when the node serves no receipts in any form, for example because it pruned them all. */
async function offersBlockReceipts(
  client: RpcClient,
  block: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const reason = await unsupportedReason(client, receiptsCall(block), signal);
  if (reason === null) return true;
  const alsoMissing = await unsupportedReason(client, receiptCall(NO_HASH), signal);
  if (alsoMissing === null) return false;
  throw new UpstreamError('rpc', `indexing needs receipts: ${reason}; ${alsoMissing}`);
}

/**
 * The first trace method that works. trace_block comes first on anvil, where it is a thousand times faster than
 * callTracer.
 */
async function findTraces(
  client: RpcClient,
  block: number,
  software: string,
  { onTracingRefused }: ProbeOptions,
  signal: AbortSignal | undefined,
): Promise<Traces> {
  const candidates: TraceMethod[] = ['debug_traceBlockByNumber', 'trace_block'];
  if (software.startsWith('anvil/')) candidates.reverse();
  const reasons: string[] = [];
  const refusals: string[] = [];
  for (const method of candidates) {
    const call = traceCall(block, NO_HASH, method, client.timeoutMs);
    const offer = await findTraceOffer(client, call, signal);
    const words =
      onTracingRefused && offer.isOffered ? await refusalOfAll(client, method, offer, signal) : null;
    if (!offer.isOffered) reasons.push(offer.reason);
    else if (words !== null) {
      reasons.push(`${method}: the node refuses every block: ${words}`);
      refusals.push(words);
    } else if (method === 'trace_block') return { traces: method, tracesReason: null };
    else if (hasOtherFrames(offer)) reasons.push(`${method}: the node does not know the callTracer`);
    else return { traces: await preciseForm(client, block, offer, signal), tracesReason: null };
  }
  if (refusals.length > 0) onTracingRefused?.([...new Set(refusals)].join('; '));
  return { traces: null, tracesReason: reasons.join('; ') };
}

/** A block that no chain has. */
const NO_BLOCK = 2 ** 32 - 1;

/**
 * The words with which the node refuses a block that it has; null if they are about that block. A node that traces says
 * something else about a block that no chain has.
 */
async function refusalOfAll(
  client: RpcClient,
  method: TraceMethod,
  { error }: { error: UpstreamError | null },
  signal: AbortSignal | undefined,
): Promise<string | null> {
  if (error === null || !isReason(error) || isMissingData(error)) return null;
  const other = await findTraceOffer(client, traceCall(NO_BLOCK, NO_HASH, method, client.timeoutMs), signal);
  if (!other.isOffered || other.error === null) return null;
  const words = wordsOf(error.message);
  return haveSameWords(words, wordsOf(other.error.message)) ? words : null;
}

/** No block or transaction has this hash. A node that offers the method answers "not found". */
const NO_HASH = `0x${'0'.repeat(64)}`;

/** Whether the traces of a block are opcodes or flat ones, which nodes send that do not know the tracer. */
function hasOtherFrames({ list }: Offered): boolean {
  return (list ?? []).some((item) => {
    const frame: unknown = isObject(item) ? (item.result ?? item) : null;
    return Array.isArray(frame) || (isObject(frame) && Array.isArray(frame.structLogs));
  });
}

/**
 * Prefers call trees by block hash if the node offers them. A node that traced the block by its number must do so by
 * its hash as well: some find no block by its hash.
 */
async function preciseForm(
  client: RpcClient,
  block: number,
  byNumber: Offered,
  signal: AbortSignal | undefined,
): Promise<TraceMethod> {
  const header = byNumber.list === null ? null : await fetchHeader(client, block, signal);
  const hash = header?.hash ?? NO_HASH;
  const call = traceCall(block, hash, 'debug_traceBlockByHash', client.timeoutMs);
  const byHash = await findTraceOffer(client, call, signal);
  const isPrecise = byHash.isOffered && (header === null || byHash.list !== null);
  return isPrecise ? 'debug_traceBlockByHash' : 'debug_traceBlockByNumber';
}

async function unsupportedReason(
  client: RpcClient,
  call: RpcCall,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const [reply] = await client.batch([call], signal);
  const offer = offerIn(reply, call.method);
  return offer.isOffered ? null : offer.reason;
}

/** `list`: the answer, null if there is none; `error`: what the node said about the block instead. */
interface Offered {
  isOffered: true;
  list: readonly unknown[] | null;
  error: UpstreamError | null;
}

/** Whether the node serves a list-valued method. */
type Offer = Offered | { isOffered: false; reason: string };

async function findTraceOffer(
  client: RpcClient,
  call: RpcCall,
  signal: AbortSignal | undefined,
): Promise<Offer> {
  const [reply] = await batchTraces(client, [call], signal);
  return offerIn(reply, call.method);
}

/**
 * An error about the block (not found, pruned, too large) proves that the method exists. So does null, which Monad also
 * answers under load.
 */
function offerIn(reply: RpcReply | undefined, method: string): Offer {
  if (reply === undefined) throw malformed(method, 'no reply');
  if ('result' in reply) {
    const list = unwrapList(reply.result);
    if (list === null || Array.isArray(list)) return { isOffered: true, list, error: null };
    throw malformed(method, `result is ${previewValue(list)}, not a list`);
  }
  const { error } = reply;
  if (isNotRecorded(error)) {
    const reason = `${method}: the node keeps no call frames (start monad with --trace-calls)`;
    return { isOffered: false, reason };
  }
  if (isUnknownMethod(error)) return { isOffered: false, reason: `the node does not offer ${method}` };
  return { isOffered: true, list: null, error };
}
