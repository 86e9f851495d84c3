/**
 * Determines whether a token's balances follow from its transfers. For a few wallets it computes the offset, the
 * contract's balance minus the sum of transfers, at the index's head and at an earlier block.
 *
 * Zero: the estimate is exact. Equal at both blocks: the offset dates from before the index begins. Different: the
 * balance moves without transfers.
 */

import { pause } from '../lib/async.ts';
import type { Hex } from '../lib/hex.ts';
import type { Random } from '../lib/random.ts';
import { ZERO_ADDRESS } from '../model/address.ts';
import type { BlockRef } from '../model/block.ts';
import { isSemiFungible } from '../model/transfer-kind.ts';
import type { RpcCall, RpcClient, RpcReply } from '../node/client.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { BalanceAccuracy, type BalanceOffset } from '../store/tokens/balance-accuracy.ts';
import { AnchorMismatchError, batchAt } from './anchored-batch.ts';
import {
  balanceCall,
  decodeUint,
  hasState,
  idBalanceCall,
  SETTLE_MS,
  stateProbe,
  supplyCall,
} from './balance-calls.ts';
import {
  type BlockEstimates,
  readRecentEstimates,
  readTokenSample,
  type TokenSample,
  type WalletEstimate,
} from './token-sample.ts';

/** Wallets sampled per token. */
const WALLETS = 5;

export interface ExamineContext {
  db: Db;
  client: RpcClient;
  /** First block of the index. */
  startBlock: number;
  /** Lower-case addresses of contracts whose supply is the coins they hold, not what they minted. */
  wrappedNative: ReadonlySet<string>;
  random: Random;
  signal: AbortSignal;
}

export interface Examination {
  address: Hex;
  /** Null if there was nothing to compare. */
  quality: BalanceAccuracy | null;
  /** The evidence for the quality, on one line. */
  reason: string;
  /** Head of the index at the time of the examination. */
  head: BlockRef;
  offsets: readonly BalanceOffset[];
  /** A wallet whose offset changed, and the blocks between which it changed; null when unknown. */
  driftRange: { wallet: number; from: number; to: number } | null;
}

/**
 * Examines one token; null when it does not exist. `known` are offsets found earlier, whose change counts too. Rejects
 * with UpstreamError when the node does not answer, with AnchorMismatchError when a retry may succeed.
 */
export async function examineToken(
  context: ExamineContext,
  token: number,
  known: readonly BalanceOffset[] = [],
): Promise<Examination | null> {
  const { db, random } = context;
  const wanted = known.length > 0 ? known.map(({ wallet }) => wallet) : undefined;
  const read = inReadTransaction(db, () => {
    const sample = readTokenSample(db, token, { count: WALLETS, random, ...(wanted && { wanted }) });
    return sample && { sample, recentEstimates: readRecentEstimates(db, sample) };
  });
  if (read === null) return null;
  return examineSample(context, read.sample, read.recentEstimates, known);
}

async function examineSample(
  context: ExamineContext,
  sample: TokenSample,
  recentEstimates: BlockEstimates | null,
  known: readonly BalanceOffset[],
): Promise<Examination> {
  const { number, hash } = sample.tip;
  const result = { address: sample.address, head: { number, hash }, driftRange: null };
  const present = await fetchPresentOffsets(context, sample, known);
  if (present === 'no state') throw new AnchorMismatchError(`the node has no state for block ${number}`);
  if (present === 'no answer') {
    const reason = `the contract does not answer balanceOf at block ${number}`;
    return { ...result, quality: BalanceAccuracy.unreliable, reason, offsets: [] };
  }
  if (present.length === 0)
    return { ...result, quality: null, reason: 'there are no holders and no supply to compare', offsets: [] };
  if (present.every(({ offset }) => offset === 0n))
    return { ...result, ...exactResult(sample, present), offsets: present };
  const baseline = await readBaseline(context, sample, recentEstimates);
  const offsets = known.length > 0 ? known : present;
  return { ...result, ...classifyOffsets(context, sample, present, baseline, known), offsets };
}

/** Offsets at the index's head. New deviations are read again after the node has had time to settle. */
async function fetchPresentOffsets(
  context: ExamineContext,
  sample: TokenSample,
  known: readonly BalanceOffset[],
): Promise<BalanceOffset[] | 'no state' | 'no answer'> {
  const block = sample.tip.number;
  const balances = new Map(sample.wallets.map(({ wallet, balance }) => [wallet, balance]));
  const estimates = { block, balances, supply: sample.supply };
  const first = await fetchOffsets(context, sample, block, estimates);
  if (!Array.isArray(first) || first.every(({ offset }) => offset === 0n)) return first;
  if (known.length > 0 && findChanged(known, first) === undefined) return first;
  await pause(SETTLE_MS, context.signal);
  return fetchOffsets(context, sample, block, estimates);
}

function exactResult(
  sample: TokenSample,
  present: readonly BalanceOffset[],
): Pick<Examination, 'quality' | 'reason'> {
  const compared =
    `${sample.wallets.length} ` +
    `balances${present.some(({ wallet }) => wallet === ZERO_WALLET) ? ' and the supply' : ''}`;
  return {
    quality: BalanceAccuracy.exact,
    reason: `${compared} at block ${sample.tip.number} equal the sums of transfers`,
  };
}

interface Baseline {
  block: number;
  offsets: readonly BalanceOffset[];
}

/**
 * Offsets just before the index's first block, where all estimates are zero; if the node lacks that state, at a recent
 * block.
 */
async function readBaseline(
  context: ExamineContext,
  sample: TokenSample,
  recentEstimates: BlockEstimates | null,
): Promise<Baseline | null> {
  if (context.startBlock === 0) return { block: -1, offsets: zeroOffsets(sample) };
  const nothing = { block: context.startBlock - 1, balances: new Map<number, bigint>(), supply: 0n };
  for (const estimates of recentEstimates === null ? [nothing] : [nothing, recentEstimates]) {
    const offsets = await fetchOffsets(context, sample, estimates.block, estimates);
    if (Array.isArray(offsets)) return { block: estimates.block, offsets };
    if (offsets === 'no answer') return { block: estimates.block, offsets: zeroOffsets(sample) };
  }
  return null;
}

/** All balances are zero before the chain begins and before the contract answers at all. */
function zeroOffsets(sample: TokenSample): BalanceOffset[] {
  return [...sample.wallets.map(({ wallet }) => wallet), ZERO_WALLET].map((wallet) => ({
    wallet,
    offset: 0n,
  }));
}

function findChanged(
  before: readonly BalanceOffset[],
  now: readonly BalanceOffset[],
): BalanceOffset | undefined {
  return now.find(({ wallet, offset }) => {
    const then = before.find((other) => other.wallet === wallet);
    return then !== undefined && then.offset !== offset;
  });
}

function classifyOffsets(
  { startBlock }: ExamineContext,
  sample: TokenSample,
  present: readonly BalanceOffset[],
  baseline: Baseline | null,
  known: readonly BalanceOffset[],
): Pick<Examination, 'quality' | 'reason' | 'driftRange'> {
  const to = sample.tip.number;
  const name = (wallet: number) =>
    wallet === ZERO_WALLET
      ? 'the total supply'
      : `the balance of ${sample.wallets.find((other) => other.wallet === wallet)?.address}`;
  const sinceBaseline = baseline === null ? undefined : findChanged(baseline.offsets, present);
  const drift = sinceBaseline ?? findChanged(known, present);
  if (drift !== undefined) {
    const reason = `${name(drift.wallet)} moved without transfers up to block ${to}: it is off by ${drift.offset}`;
    // Known offsets have no block: the balance may have moved before the baseline.
    const driftRange =
      baseline === null || sinceBaseline === undefined || drift.wallet === ZERO_WALLET
        ? null
        : { wallet: drift.wallet, from: baseline.block, to };
    return { quality: BalanceAccuracy.unreliable, reason, driftRange };
  }
  const off = present.find(({ offset }) => offset !== 0n)!;
  const reason = `${name(off.wallet)} is off by ${off.offset} at block ${to}`;
  if (startBlock <= 1)
    return {
      quality: BalanceAccuracy.unreliable,
      reason: `${reason} although the whole chain is indexed`,
      driftRange: null,
    };
  const since = baseline === null ? '' : `, as it was at block ${baseline.block}`;
  return {
    quality: BalanceAccuracy.partial,
    reason: `${reason}${since}: history before block ${startBlock}`,
    driftRange: null,
  };
}

/** The contract's balance minus the estimate, for each wallet of the sample and the supply (zero address). */
async function fetchOffsets(
  context: ExamineContext,
  sample: TokenSample,
  block: number,
  estimates: BlockEstimates,
): Promise<BalanceOffset[] | 'no state' | 'no answer'> {
  const { address, kind, wallets, tip } = sample;
  const perWallet = wallets.map((wallet) => balanceCalls(address, kind, wallet, block));
  const supplyCalls = [supplyCall(address, block), balanceCall(address, ZERO_ADDRESS, block)];
  const [probe, ...replies] = await batchAt(
    context.client,
    tip,
    [stateProbe(block), ...supplyCalls, ...perWallet.flat()],
    context.signal,
  );
  if (probe === undefined || !hasState(probe)) return 'no state';
  const [supplyReply, burntReply] = replies.splice(0, 2);
  const offsets: BalanceOffset[] = [];
  for (const [i, { wallet }] of wallets.entries()) {
    const actual = sumUints(replies.splice(0, perWallet[i]!.length));
    if (actual !== null) offsets.push({ wallet, offset: actual - (estimates.balances.get(wallet) ?? 0n) });
  }
  if (offsets.length === 0 && wallets.length > 0) return 'no answer';
  const supply = supplyReply && decodeUint(supplyReply);
  const counts = !isSemiFungible(kind) && !context.wrappedNative.has(address);
  if (counts && typeof supply === 'bigint') {
    // A transfer to the zero address burns, unless the contract credits that address: then the supply still contains
    // it.
    const burnt = (burntReply && decodeUint(burntReply)) ?? 0n;
    offsets.push({ wallet: ZERO_WALLET, offset: supply - burnt - estimates.supply });
  }
  return offsets;
}

function balanceCalls(token: Hex, kind: number, { address, ids }: WalletEstimate, block: number): RpcCall[] {
  if (!isSemiFungible(kind)) return [balanceCall(token, address, block)];
  return ids.map((id) => idBalanceCall(token, address, id, block));
}

/** The sum of the answers, null if any is missing. */
function sumUints(replies: readonly RpcReply[]): bigint | null {
  let sum = 0n;
  for (const reply of replies) {
    const word = decodeUint(reply);
    if (word === null) return null;
    sum += word;
  }
  return sum;
}
