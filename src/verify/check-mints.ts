/** Compares what was minted of tokens with a recount. */
import { prepareWalletNames } from '../store/addresses.ts';
import type { Db } from '../store/open-database.ts';
import { decodeAmount } from '../tokens/decoded-transfer.ts';
import type { TokenRecount } from './recount.ts';
import type { Check } from './report.ts';

/** No row means that nothing was minted, and no row says so. */
export function prepareMintComparer(db: Db): (recount: TokenRecount, check: Check) => void {
  const nameOf = prepareWalletNames(db);
  const contractOf = db.prepare<[number], number>('SELECT wallet FROM tokens WHERE id = ?').pluck();
  const mintedOf = db
    .prepare<[number], Buffer>('SELECT CAST(minted AS BLOB) FROM token_mints WHERE token = ?')
    .pluck();
  return ({ id, minted }, check) => {
    const contract = contractOf.get(id);
    if (contract === undefined) return; // reported as missing
    const stored = mintedOf.get(id);
    const expected = minted === 0n ? undefined : minted;
    check.expect(`what was minted of token ${nameOf(contract)}`, stored && decodeAmount(stored), expected);
  };
}
