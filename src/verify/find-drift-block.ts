/** Finding the block in which a token balance moved without a transfer in the index. */
import { hexToBytes } from '../lib/hex.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import { readLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { type Hex, TransferKind } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { balanceCall, decodeUint } from './balance-calls.ts';
import { inReadTransaction, walletAddress } from './read-transaction.ts';
import { balanceAfter, walletTokenTransfers } from './token-history.ts';

export interface DriftRange {
  token: Hex;
  wallet: number;
  /** The offset differed between `from` and `to`. */
  from: number;
  to: number;
}

/** The first block found at whose end the offset differs from that of the block before; null when unknown. */
export async function findDriftBlock(
  { db, client, signal }: { db: Db; client: RpcClient; signal: AbortSignal },
  { token, wallet, from, to }: DriftRange,
): Promise<number | null> {
  const history = inReadTransaction(db, () => readHistory(db, token, wallet));
  if (history === null) return null;
  const offsetAt = async (block: number): Promise<bigint | null> => {
    if (block < 0) return 0n;
    const [reply] = await client.batch([balanceCall(token, history.owner, block)], signal);
    const actual = reply && decodeUint(reply);
    return typeof actual === 'bigint' ? actual - history.balanceAt(block) : 0n;
  };
  const before = await offsetAt(from);
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if ((await offsetAt(middle)) === before) same = middle;
    else other = middle;
  }
  return other;
}

function readHistory(
  db: Db,
  token: Hex,
  wallet: number,
): { owner: Hex; balanceAt: (block: number) => bigint } | null {
  const found = getByAddress(
    db.prepare<AddressKeys, { id: number; kind: number }>(
      `SELECT t.id, t.kind FROM ${WALLET_BY_ADDRESS} JOIN tokens t ON t.wallet = w.id`,
    ),
    hexToBytes(token),
  );
  const owner = walletAddress(db, wallet);
  if (found === undefined || owner === null || found.kind === TransferKind.erc1155) return null;
  const rows = walletTokenTransfers(db, wallet, found.id);
  if (rows === null) return null;
  return {
    owner,
    balanceAt: (block) => balanceAfter(rows, wallet, readLastBlock(db, block)?.lastTransfer ?? 0),
  };
}
