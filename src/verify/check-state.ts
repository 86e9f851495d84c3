/**
 * Compares balances with the state of the node: native balance changes of some wallets over the newest blocks with
 * their transfers and fees, and tokens with their contracts.
 */
import { readObject } from '../decode/read-json.ts';
import { receiptsOf } from '../indexer/backfill/load-receipts.ts';
import { pause } from '../lib/async.ts';
import { UpstreamError } from '../lib/errors.ts';
import { bytesToHex, type Hex, spelledBigInt, spelledNumber, toQuantity } from '../lib/hex.ts';
import { randomInt } from '../lib/random.ts';
import { previewValue } from '../lib/text.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import type { RpcCall, RpcClient, RpcReply } from '../node/client.ts';
import { blockCall, fetchHeader, receiptsCall } from '../node/methods.ts';
import { gapsBetween } from '../store/block-gaps.ts';
import { readLastBlock, type Tip } from '../store/chain.ts';
import { type Db, highest, inReadTransaction } from '../store/open-database.ts';
import type { CountedTransfer } from '../store/schema.ts';
import { BALANCE_ACCURACY_NAMES, BalanceAccuracy } from '../store/tokens/balance-accuracy.ts';
import { AnchorMismatchError } from '../tokens/anchored-batch.ts';
import { hasState, SETTLE_MS } from '../tokens/balance-calls.ts';
import { BalanceAdjustments, findDriftBlock } from '../tokens/balance-drift.ts';
import { decodeStored } from '../tokens/decoded-transfer.ts';
import { type Examination, type ExamineContext, examineToken } from '../tokens/examine-token.ts';
import type { CompareBlock } from './block-comparer.ts';
import type { Check, TokenVerdict } from './report.ts';

/** Most blocks over which balances are compared. The check reads all their receipts. */
const WINDOW_BLOCKS = 8;

interface NativeOptions {
  db: Db;
  client: RpcClient;
  compareBlock: CompareBlock;
  startBlock: number;
  /** Whether the index counts the mints of OP stack deposits as transfers. */
  mintsAreTransfers: boolean;
  /** Most wallets to compare. */
  wallets: number;
  signal: AbortSignal;
}

export async function checkNative(check: Check, options: NativeOptions): Promise<void> {
  const { db, client, signal } = options;
  const window = inReadTransaction(db, () => readWindow(db, options.startBlock));
  if (window === null) return check.addNote('not compared: one block is not enough');
  const adjustments = await fetchAdjustments(client, window, options.mintsAreTransfers, signal);
  const addresses = [...new Set([...window.net.keys(), ...adjustments.senders()])]
    .filter((address) => !adjustments.isExempt(address))
    .slice(0, options.wallets);
  const expectedOf = (address: Hex) => (window.net.get(address) ?? 0n) + adjustments.netOf(address);
  const balanceChanges = await fetchSettledChanges(client, addresses, window, expectedOf, signal);
  if (balanceChanges === null)
    return check.addNote(`not compared: the node has no state for block ${window.before}`);
  if ((await fetchHeader(client, window.tip.number, signal))?.hash !== window.tip.hash)
    return check.addNote('not compared: the chain was reorganised meanwhile');
  check.compared = `balance changes of ${addresses.length} wallets from block ${window.before} to ${window.tip.number}`;
  for (const address of addresses) {
    const expected = expectedOf(address);
    const actual = balanceChanges.get(address);
    if (actual === expected || actual === undefined) continue;
    if (await wasDestroyed(client, address, window.tip.number, signal)) continue;
    await reportDifference(
      check,
      options,
      window,
      `${address} gained ${actual} wei, its transfers and fees say ${expected}`,
    );
  }
}

interface BlockWindow {
  tip: Tip;
  /** The block before the window. */
  before: number;
  /** The gain of each address by transfers, wei. */
  net: Map<Hex, bigint>;
}

function readWindow(db: Db, startBlock: number): BlockWindow | null {
  const tip = readLastBlock(db);
  const before = tip && Math.max(startBlock, tip.number - WINDOW_BLOCKS);
  if (tip === null || before === null || before >= tip.number) return null;
  const net = new Map<Hex, bigint>();
  const rows = db
    .prepare<[number, number, number], CountedTransfer & { from: Buffer; to: Buffer }>(/* sql */ `
      SELECT t.id, t.tx, t.sender, t.receiver, t.kind, t.token, t.amount, t.token_number, s.address AS "from",
      r.address AS "to"
      FROM transfers t JOIN wallets s ON s.id = t.sender JOIN wallets r ON r.id = t.receiver
      WHERE t.id > ? AND t.kind IN (?, ?)`)
    .all(
      readLastBlock(db, before)?.lastTransfer ?? 0,
      TransferKind.nativeDirect,
      TransferKind.nativeInternal,
    );
  for (const row of rows) {
    const { amount } = decodeStored(row);
    const [from, to] = [bytesToHex(row.from), bytesToHex(row.to)];
    net.set(from, (net.get(from) ?? 0n) - amount);
    net.set(to, (net.get(to) ?? 0n) + amount);
  }
  return { tip, before, net };
}

async function fetchAdjustments(
  client: RpcClient,
  { before, tip }: BlockWindow,
  mintsAreTransfers: boolean,
  signal: AbortSignal,
): Promise<BalanceAdjustments> {
  const calls: RpcCall[] = [];
  for (let number = before + 1; number <= tip.number; number++)
    calls.push(blockCall(number), receiptsCall(number));
  const replies = await client.batch(calls, signal);
  const adjustments = new BalanceAdjustments(mintsAreTransfers);
  for (let i = 0; i < replies.length; i += 2) {
    const number = before + 1 + i / 2;
    const block = readObject(requireResult(replies[i]!), 'block');
    adjustments.add(block, await receiptsOf(client, { number, block }, replies[i + 1], signal));
  }
  return adjustments;
}

function requireResult(reply: RpcReply): unknown {
  if ('error' in reply) throw reply.error;
  if (reply.result === null)
    throw new UpstreamError('inconsistent', 'the node lacks one of its newest blocks');
  return reply.result;
}

/** As `fetchBalanceChanges`, but reads deviating changes again after the node has had time to settle. */
async function fetchSettledChanges(
  client: RpcClient,
  addresses: readonly Hex[],
  window: BlockWindow,
  expectedOf: (address: Hex) => bigint,
  signal: AbortSignal,
): Promise<Map<Hex, bigint> | null> {
  const first = await fetchBalanceChanges(client, addresses, window, signal);
  if (first === null) return null;
  const differing = addresses.filter((address) => first.get(address) !== expectedOf(address));
  if (differing.length === 0) return first;
  await pause(SETTLE_MS, signal);
  const settled = await fetchBalanceChanges(client, differing, window, signal);
  return settled && new Map([...first, ...settled]);
}

/** Each address's balance at the end of the window minus that before it; null when the node lacks the state. */
async function fetchBalanceChanges(
  client: RpcClient,
  addresses: readonly Hex[],
  { before, tip }: BlockWindow,
  signal: AbortSignal,
): Promise<Map<Hex, bigint> | null> {
  const calls = addresses.flatMap((address) =>
    [before, tip.number].map((block) => ({ method: 'eth_getBalance', params: [address, toQuantity(block)] })),
  );
  const replies = await client.batch(calls, signal);
  const balances: bigint[] = [];
  for (const reply of replies) {
    if (!hasState(reply)) return null;
    balances.push(parseBalance(reply.result));
  }
  return new Map(addresses.map((address, i) => [address, balances[i * 2 + 1]! - balances[i * 2]!]));
}

/** Throws UpstreamError `malformed` for anything but a quantity. */
function parseBalance(result: unknown): bigint {
  const balance = spelledBigInt(result);
  if (balance !== null) return balance;
  throw new UpstreamError('malformed', `eth_getBalance: the node sent ${previewValue(result)} as a balance`);
}

/** Whether a contract may have self-destructed to itself, which burns its balance without a transfer. */
async function wasDestroyed(
  client: RpcClient,
  address: Hex,
  block: number,
  signal: AbortSignal,
): Promise<boolean> {
  const at = toQuantity(block);
  const replies = await client.batch(
    [
      { method: 'eth_getBalance', params: [address, at] },
      { method: 'eth_getTransactionCount', params: [address, at] },
    ],
    signal,
  );
  return replies.every((reply) => 'result' in reply && spelledNumber(reply.result) === 0);
}

/** Reports the block in which the index differs from the node. If none does, the decoding rules are wrong. */
async function reportDifference(
  check: Check,
  { db, compareBlock, signal }: NativeOptions,
  { before, tip }: BlockWindow,
  text: string,
): Promise<void> {
  const [gap] = gapsBetween(db, { first: before + 1, last: tip.number });
  if (gap !== undefined)
    return check.addNote(
      `${text}, which is no difference: block ${gap.first} lacks transfers (${gap.reason})`,
    );
  for (let number = before + 1; number <= tip.number; number++) {
    const difference = await compareBlock(number, signal);
    if (difference !== null) return check.addDifference(`${text}: ${difference}`, number);
  }
  check.addDifference(`${text}; the index holds what the node's blocks and traces give`);
}

/** Failed tokens after which the rest is skipped, because the node lacks the state for all of them. */
const MAX_FAILURES = 3;

/** Most attempts per token when the head keeps moving. */
const MAX_TRIES = 4;

interface BalanceCheckOptions {
  context: ExamineContext;
  compareBlock: CompareBlock;
  /** Most tokens to examine. */
  count: number;
  onProgress(done: number): void;
}

/** Returns the verdict for each token. Only transfers missing from the index count as a difference. */
export async function checkBalances(check: Check, options: BalanceCheckOptions): Promise<TokenVerdict[]> {
  const { context, count, onProgress } = options;
  const verdicts: TokenVerdict[] = [];
  const chosen = chooseTokens(context, count);
  let failures = 0;
  for (const [i, token] of chosen.entries()) {
    onProgress(i / chosen.length);
    try {
      const found = await examineWithRetry(context, token);
      if (found !== null) verdicts.push(await reportVerdict(check, options, found));
    } catch (error) {
      if (!(error instanceof UpstreamError) || context.signal.aborted) throw error;
      if (++failures <= MAX_FAILURES) continue;
      check.addNote(`given up after ${verdicts.length} tokens: ${error.message}`);
      break;
    }
  }
  if (verdicts.length > 0)
    check.compared = `balances and supply of ${verdicts.length} tokens against their contracts`;
  if (failures > 0 && failures <= MAX_FAILURES) check.addNote(`${failures} tokens could not be examined`);
  return verdicts;
}

async function examineWithRetry(context: ExamineContext, token: number): Promise<Examination | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await examineToken(context, token);
    } catch (error) {
      if (!(error instanceof AnchorMismatchError) || attempt === MAX_TRIES) throw error;
    }
  }
}

async function reportVerdict(
  check: Check,
  options: BalanceCheckOptions,
  found: Examination,
): Promise<TokenVerdict> {
  const { address, quality, reason, driftRange } = found;
  const verdict: TokenVerdict = {
    token: address,
    quality: quality === null ? null : BALANCE_ACCURACY_NAMES[quality],
    reason,
  };
  if (quality !== BalanceAccuracy.unreliable || driftRange === null) return verdict;
  const { context, compareBlock } = options;
  const block = await findDriftBlock(context, { token: address, ...driftRange });
  if (block === null || block < context.startBlock) return verdict;
  const difference = await compareBlock(block, context.signal);
  if (difference === null) return { ...verdict, reason: `${reason}, first in block ${block}` };
  check.addDifference(`${address}: ${reason}: ${difference}`, block);
  return { ...verdict, quality: null, reason: `the index lacks transfers of block ${block}` };
}

/** Half are random tokens; half come from random recent transfers, where nodes still have the state. */
function chooseTokens({ db, random }: ExamineContext, count: number): number[] {
  return inReadTransaction(db, () => {
    const tip = readLastBlock(db);
    const last = highest(db, 'tokens');
    const tokenOf = db
      .prepare<[number], number | null>(
        'SELECT token FROM transfers WHERE id >= ? AND token IS NOT NULL ORDER BY id LIMIT 1',
      )
      .pluck();
    const chosen = new Set<number>();
    for (let i = 0; i < count * 4 && chosen.size < Math.min(count, last); i++) {
      const from = randomInt(random, 1, Math.max(1, tip?.lastTransfer ?? 1));
      const token = i % 2 === 0 ? randomInt(random, 1, last) : tokenOf.get(from);
      if (token) chosen.add(token);
    }
    return [...chosen];
  });
}
