/** Finds the wallets of all addresses of a commit. */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { ADDRESS_PREFIX_BYTES } from '../schema.ts';
import { DamageError } from '../storage-error.ts';
import { type CommitWallets, FundedBy, NO_ID } from './commit-wallets.ts';
import { type OnStep, ROWS_PER_STEP } from './on-step.ts';
import type { Tables } from './tables.ts';

/** Id of an unknown wallet. Sorts after every real id. */
const UNKNOWN_ID = Number.MAX_SAFE_INTEGER;

/** A wallet that first appears in the commit. */
export interface NewAddress {
  /** Its slot in CommitWallets. */
  slot: number;
  /** Whether its key in `addresses` is the whole address because an earlier wallet took the prefix. */
  isWholeKey: boolean;
}

/**
 * Sets the ids of all wallets, and how the stored ones are funded. Unknown wallets get the ids after `lastWallet`, in
 * order of first appearance. Returns them ordered by their keys in `addresses`.
 *
 * Looks up all ids in address order, then all rows in id order, so each page of either table is fetched once. Resolving
 * one address after another would fetch two pages per address.
 */
export function resolveAddresses(
  wallets: CommitWallets,
  tables: Tables,
  lastWallet: number,
  onStep: OnStep,
): NewAddress[] {
  const { count } = wallets;
  const prefixes = new Float64Array(count);
  for (let slot = 0; slot < count; slot++) prefixes[slot] = wallets.prefixAt(slot);
  const byPrefix = ascendingOrder(prefixes);
  const found = new Float64Array(count);
  const key = Buffer.alloc(ADDRESS_PREFIX_BYTES);
  for (let rank = 0; rank < count; rank++) {
    if (rank % ROWS_PER_STEP === 0) onStep();
    const slot = byPrefix[rank]!;
    key.writeUIntBE(prefixes[slot]!, 0, ADDRESS_PREFIX_BYTES);
    found[slot] = tables.addresses.walletByKey(key) ?? UNKNOWN_ID;
  }
  const byId = ascendingOrder(found);
  for (let rank = 0; rank < count && found[byId[rank]!] !== UNKNOWN_ID; rank++) {
    if (rank % ROWS_PER_STEP === 0) onStep();
    const slot = byId[rank]!;
    setIfKnown(wallets, tables, slot, found[slot]!);
  }
  for (let slot = 0, last = lastWallet; slot < count; slot++)
    if (wallets.ids[slot] === NO_ID) wallets.ids[slot] = ++last;
  const added: NewAddress[] = [];
  for (let rank = 0; rank < count; rank++) {
    const slot = byPrefix[rank]!;
    if (wallets.ids[slot]! <= lastWallet) continue;
    const isTaken =
      found[slot] !== UNKNOWN_ID || (rank > 0 && prefixes[byPrefix[rank - 1]!] === prefixes[slot]);
    added.push({ slot, isWholeKey: isTaken });
  }
  return added;
}

/**
 * Sets the id of a wallet if it is stored: as wallet `first`, found by the prefix of its address, or as a later wallet
 * with that whole address.
 */
function setIfKnown(wallets: CommitWallets, tables: Tables, slot: number, first: number): void {
  const address = wallets.addressAt(slot);
  let id = first;
  let funder = tables.wallets.funderIfAddressMatches(id, address);
  if (funder === undefined) {
    const later = tables.addresses.walletByKey(address);
    if (later === undefined) return;
    id = later;
    funder = tables.wallets.funderIfAddressMatches(id, address);
    if (funder === undefined) throw new DamageError(`the index refers to wallet ${id}, which has no row`);
  }
  wallets.ids[slot] = id;
  wallets.fundedBy[slot] =
    funder === null ? FundedBy.nothing : funder < 0 ? FundedBy.direct : FundedBy.internal;
  wallets.funders[slot] = funder ?? 0;
}
