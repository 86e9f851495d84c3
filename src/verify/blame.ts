/** Finding the block in which a token balance moved without a transfer in the index. */
import { bytesToHex, hexToBytes } from '../lib/hex.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import { tipOf } from '../store/chain.ts';
import type { Db } from '../store/open.ts';
import { type Hex, Kind } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { balanceCall, readWord } from './balance-calls.ts';
import { atOneCommit } from './snapshot.ts';
import { balanceAfter, transfersOfToken } from './token-history.ts';

export interface Suspicion {
  token: Hex;
  wallet: number;
  /** The offset differed between `from` and `to`. */
  from: number;
  to: number;
}

/** The first block found at whose end the offset differs from that of the block before; null when unknown. */
export async function blockOfChange(
  { db, client, signal }: { db: Db; client: RpcClient; signal: AbortSignal },
  { token, wallet, from, to }: Suspicion,
): Promise<number | null> {
  const known = atOneCommit(db, () => readHistory(db, token, wallet));
  if (known === null) return null;
  const offsetAt = async (block: number): Promise<bigint | null> => {
    if (block < 0) return 0n;
    const [reply] = await client.batch([balanceCall(token, known.owner, block)], signal);
    const actual = reply && readWord(reply);
    return typeof actual === 'bigint' ? actual - known.balanceAt(block) : 0n;
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
  const address = db.prepare<[number], Buffer>('SELECT address FROM wallets WHERE id = ?').pluck();
  const found = getByAddress(
    db.prepare<AddressKeys, { id: number; kind: number }>(
      `SELECT t.id, t.kind FROM ${WALLET_BY_ADDRESS} JOIN tokens t ON t.wallet = w.id`,
    ),
    hexToBytes(token),
  );
  const owner = address.get(wallet);
  if (found === undefined || owner === undefined || found.kind === Kind.erc1155) return null;
  const rows = transfersOfToken(db, wallet, found.id);
  if (rows === null) return null;
  return {
    owner: bytesToHex(owner),
    balanceAt: (block) => balanceAfter(rows, wallet, tipOf(db, block)?.lastTransfer ?? 0),
  };
}
