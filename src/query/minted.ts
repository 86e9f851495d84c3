/** What a token has minted and burned: what the zero address gave and got of it. */
import { bytesToBigInt } from '../lib/hex.ts';
import { decodeSigned } from '../lib/signed.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import type { Head } from './snapshot.ts';
import { prepareDerivedBlock } from './token-history.ts';

interface Minted {
  minted: bigint;
  burned: bigint;
}

/** Null while an index of an earlier release has not counted the mints up to its head. */
export function prepareMinted(db: Db): (token: number, head: Head) => Minted | null {
  const blockOf = prepareDerivedBlock(db);
  const mintedOf = db.prepare<[number], Buffer>('SELECT minted FROM token_mints WHERE token = +?').pluck();
  const balanceOf = db
    .prepare<[number], Buffer>(`SELECT balance FROM holdings WHERE token = +? AND wallet = ${ZERO_WALLET}`)
    .pluck();
  return (token, head) => {
    if (blockOf('token_mints').block !== head.number) return null;
    const stored = mintedOf.get(token);
    const balance = balanceOf.get(token);
    const minted = stored === undefined ? 0n : bytesToBigInt(stored);
    return { minted, burned: minted + (balance === undefined ? 0n : decodeSigned(balance)) };
  };
}
