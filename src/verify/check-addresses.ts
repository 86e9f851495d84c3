/** Whether every wallet is found by its address, and no two wallets have the same address. */
import { bytesToHex } from '../lib/hex.ts';
import type { Db } from '../store/open-database.ts';
import { ADDRESS_PREFIX_BYTES } from '../store/schema.ts';
import type { Check } from './report.ts';

/** Reads the keys of all addresses, a few bytes each. */
export function checkAddresses(db: Db, check: Check, lastWallet: number): void {
  const count = db.prepare<[], number>('SELECT count(*) FROM addresses').pluck().get();
  check.expect('the number of addresses', count, lastWallet + 1);
  for (const { wallet, key, first, address } of prefixCollisions(db)) {
    const name = `wallet ${wallet} of ${bytesToHex(key)}`;
    if (first === null || first >= wallet)
      check.addDifference(`${name} is kept as one that begins like an earlier one, but there is none`);
    else if (address?.equals(key)) check.addDifference(`${name} has the address of wallet ${first}`);
  }
}

interface PrefixCollision {
  wallet: number;
  /** Its address. */
  key: Buffer;
  /** The wallet keyed by the beginning, and its address. */
  first: number | null;
  address: Buffer | null;
}

/** Wallets whose address begins like an earlier one: few by chance, but anybody can create as many as they want. */
function prefixCollisions(db: Db): IterableIterator<PrefixCollision> {
  return db
    .prepare<[], PrefixCollision>(/* sql */ `
      SELECT later.wallet, later.key, earlier.wallet AS first, w.address
      FROM addresses later LEFT JOIN addresses earlier ON earlier.key = substr(later.key, 1, ${ADDRESS_PREFIX_BYTES})
        LEFT JOIN wallets w ON w.id = earlier.wallet
      WHERE length(later.key) > ${ADDRESS_PREFIX_BYTES}`)
    .iterate();
}
