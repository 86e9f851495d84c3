/** Pairs of a wallet and a token that it moved: whoever asks about both makes an index find what they share. */
import { bytesToHex, type Hex } from '../../../src/lib/hex.ts';
import type { Db } from '../../../src/store/open-database.ts';
import { ZERO_WALLET } from '../../../src/store/schema.ts';

export interface HeldToken {
  address: Hex;
  token: Hex;
}

type Pair = [wallet: Buffer, token: Buffer];

const held = ([wallet, token]: Pair): HeldToken => ({
  address: bytesToHex(wallet),
  token: bytesToHex(token),
});

/** Of the next token from each id on, one wallet; neither with more than `most` transfers. */
export function ordinaryHeldTokens(db: Db, tokens: readonly number[], most: number): HeldToken[] {
  const holder = db
    .prepare<[number, number, number, number], Pair>(/* sql */ `
      SELECT w.address, c.address
      FROM tokens k CROSS JOIN holdings h ON h.token = k.id CROSS JOIN wallets w ON w.id = h.wallet
        CROSS JOIN wallets c ON c.id = k.wallet
      WHERE k.id >= ? AND k.transfers <= ? AND w.id <> ? AND w.transfers <= ? ORDER BY k.id LIMIT 1`)
    .raw();
  return tokens.flatMap((token) => {
    const pair = holder.get(token, most, ZERO_WALLET, most);
    return pair === undefined ? [] : held(pair);
  });
}

/**
 * Of each of the `count` wallets with the longest histories the token that it moved most of the `count` most moved
 * ones, and the one that it moved least.
 */
export function hottestHeldTokens(db: Db, count: number): HeldToken[] {
  const pairs = db
    .prepare<[number, number, number], Pair>(/* sql */ `
      WITH hot AS (SELECT id, address FROM wallets WHERE id <> ? ORDER BY transfers DESC LIMIT ?),
        moved AS (SELECT id, wallet FROM tokens ORDER BY transfers DESC LIMIT ?),
        both AS (
          SELECT hot.id, hot.address, moved.wallet AS contract, h.transfers,
            row_number() OVER (PARTITION BY hot.id ORDER BY h.transfers DESC, moved.id) AS most,
            row_number() OVER (PARTITION BY hot.id ORDER BY h.transfers, moved.id) AS least
          FROM hot CROSS JOIN moved CROSS JOIN holdings h ON h.token = moved.id AND h.wallet = hot.id)
      SELECT both.address, c.address FROM both CROSS JOIN wallets c ON c.id = both.contract
      WHERE most = 1 OR least = 1 ORDER BY both.id, most`)
    .raw()
    .all(ZERO_WALLET, count, count);
  return pairs.map(held);
}
