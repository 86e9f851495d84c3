/** Queries about the wallet of an address. */
import { writeHex } from '../lib/hex.ts';
import { type AddressKeys, getByAddress } from '../store/address-table.ts';
import type { Statement } from '../store/open-database.ts';

/** Reused for every lookup: the driver copies what it binds. */
const scratch = Buffer.alloc(20);

/** Runs a statement over WALLET_BY_ADDRESS for a checked address `0x...`; undefined when it has no row. */
export function getByHexAddress<T>(statement: Statement<AddressKeys, T>, address: string): T | undefined {
  writeHex(address, 2, 42, scratch, 0);
  return getByAddress(statement, scratch);
}
