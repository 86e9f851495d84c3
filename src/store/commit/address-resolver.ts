/** Finds the wallets of all addresses of a commit. */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { addressPrefix } from '../addresses.ts';
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
  const found = new Float64Array(count).fill(UNKNOWN_ID);
  for (let rank = 0; rank < count; rank += ROWS_PER_STEP) {
    onStep();
    const slots = byPrefix.subarray(rank, rank + ROWS_PER_STEP);
    const keys = Array.from(slots, (slot) => addressPrefix(wallets.addressAt(slot)));
    tables.addresses.walletsByKey(keys, (wallet, place) => {
      found[slots[place]!] = wallet;
    });
  }
  const byId = ascendingOrder(found);
  for (let rank = 0; rank < count && found[byId[rank]!] !== UNKNOWN_ID; rank += ROWS_PER_STEP) {
    onStep();
    const slots = byId.subarray(rank, rank + ROWS_PER_STEP).filter((slot) => found[slot] !== UNKNOWN_ID);
    setKnown(wallets, tables, slots, (slot) => found[slot]!);
    for (const slot of slots) if (wallets.ids[slot] === NO_ID) setIfKnownByWholeKey(wallets, tables, slot);
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

/** Sets the ids of the wallets whose row has their address, and how they are funded. */
function setKnown(
  wallets: CommitWallets,
  tables: Tables,
  slots: Uint32Array,
  idOf: (slot: number) => number,
): void {
  const keys = Array.from(slots, (slot) => ({ id: idOf(slot), address: wallets.addressAt(slot) }));
  tables.wallets.readFunders(keys, (funder, place) => {
    const slot = slots[place]!;
    wallets.ids[slot] = keys[place]!.id;
    wallets.fundedBy[slot] =
      funder === null ? FundedBy.nothing : funder < 0 ? FundedBy.direct : FundedBy.internal;
    wallets.funders[slot] = funder ?? 0;
  });
}

/** Sets the id of a wallet if it is stored with its whole address as key, because an earlier wallet has its prefix. */
function setIfKnownByWholeKey(wallets: CommitWallets, tables: Tables, slot: number): void {
  const id = tables.addresses.walletByKey(wallets.addressAt(slot));
  if (id === undefined) return;
  setKnown(wallets, tables, Uint32Array.of(slot), () => id);
  if (wallets.ids[slot] === NO_ID)
    throw new DamageError(`the index refers to wallet ${id}, which has no row`);
}
