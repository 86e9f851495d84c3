/** Compares the native balance changes of some wallets over the newest blocks with their transfers and fees. */

import { readObject } from '../decode/read-json.ts';
import { receiptsOf } from '../indexer/backfill/load-receipts.ts';
import { pause } from '../lib/async.ts';
import { UpstreamError } from '../lib/errors.ts';
import { bytesToHex, type Hex, spelledBigInt, spelledNumber, toQuantity } from '../lib/hex.ts';
import { previewValue } from '../lib/text.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import type { RpcCall, RpcClient, RpcReply } from '../node/client.ts';
import { blockCall, fetchHeader, receiptsCall } from '../node/methods.ts';
import { readLastBlock, type Tip } from '../store/chain.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import type { StoredTransfer } from '../store/schema.ts';
import { hasState, SETTLE_MS } from '../tokens/balance-calls.ts';
import { BalanceAdjustments } from '../tokens/balance-drift.ts';
import { toTransferRow } from '../tokens/transfer-row.ts';
import type { CompareBlock } from './block-comparer.ts';
import type { Check } from './report.ts';

/** Most blocks over which balances are compared. The check reads all their receipts. */
const WINDOW_BLOCKS = 8;

interface NativeOptions {
  db: Db;
  client: RpcClient;
  compareBlock: CompareBlock;
  startBlock: number;
  /** Most wallets to compare. */
  wallets: number;
  signal: AbortSignal;
}

export async function checkNative(check: Check, options: NativeOptions): Promise<void> {
  const { db, client, signal } = options;
  const window = inReadTransaction(db, () => readWindow(db, options.startBlock));
  if (window === null) return check.addNote('not compared: one block is not enough');
  const adjustments = await fetchAdjustments(client, window, signal);
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
    .prepare<[number, number, number], StoredTransfer & { from: Buffer; to: Buffer }>(/* sql */ `
      SELECT t.id, t.tx, t.sender, t.receiver, t.kind, t.token, t.amount, s.address AS "from", r.address AS "to"
      FROM transfers t JOIN wallets s ON s.id = t.sender JOIN wallets r ON r.id = t.receiver
      WHERE t.id > ? AND t.kind IN (?, ?)`)
    .all(
      readLastBlock(db, before)?.lastTransfer ?? 0,
      TransferKind.nativeDirect,
      TransferKind.nativeInternal,
    );
  for (const row of rows) {
    const { amount } = toTransferRow(row);
    const [from, to] = [bytesToHex(row.from), bytesToHex(row.to)];
    net.set(from, (net.get(from) ?? 0n) - amount);
    net.set(to, (net.get(to) ?? 0n) + amount);
  }
  return { tip, before, net };
}

async function fetchAdjustments(
  client: RpcClient,
  { before, tip }: BlockWindow,
  signal: AbortSignal,
): Promise<BalanceAdjustments> {
  const calls: RpcCall[] = [];
  for (let number = before + 1; number <= tip.number; number++)
    calls.push(blockCall(number), receiptsCall(number));
  const replies = await client.batch(calls, signal);
  const adjustments = new BalanceAdjustments();
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
  { compareBlock, signal }: NativeOptions,
  { before, tip }: BlockWindow,
  text: string,
): Promise<void> {
  for (let number = before + 1; number <= tip.number; number++) {
    const difference = await compareBlock(number, signal);
    if (difference !== null) return check.addDifference(`${text}: ${difference}`, number);
  }
  check.addDifference(`${text}; the index holds what the node's blocks and traces give`);
}
