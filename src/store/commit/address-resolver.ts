/** Finds the wallets of all addresses of a commit. */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { ADDRESS_BYTES, ADDRESS_PREFIX_BYTES } from '../schema.ts';
import type { ChangeSet } from './change-set.ts';

/** Id of an unknown wallet. Sorts after every real id. */
const UNKNOWN_ID = Number.MAX_SAFE_INTEGER;

/** Adds concatenated addresses to the commit. Returns the slot of each in `changes.wallets`. */
export function addAddresses({ wallets }: ChangeSet, addresses: Uint8Array): Uint32Array {
  const slots = new Uint32Array(addresses.length / ADDRESS_BYTES);
  for (let i = 0; i < slots.length; i++) slots[i] = wallets.slotOfAddress(addresses, i * ADDRESS_BYTES);
  return slots;
}

/**
 * Loads the wallets of the added addresses; unknown ones get the ids after `lastWallet`, in order of first appearance.
 * Looks up all ids in address order, then all rows in id order, so each page of either table is fetched once. Resolving
 * one address after another would fetch two pages per address.
 */
export function resolveAddresses(changes: ChangeSet, lastWallet: number): void {
  const { wallets, tables } = changes;
  const { count } = wallets;
  const prefixes = new Float64Array(count);
  for (let slot = 0; slot < count; slot++) prefixes[slot] = prefixAt(changes, slot);
  const byPrefix = ascendingOrder(prefixes);
  const ids = new Float64Array(count);
  const key = Buffer.alloc(ADDRESS_PREFIX_BYTES);
  for (const slot of byPrefix) {
    key.writeUIntBE(prefixes[slot]!, 0, ADDRESS_PREFIX_BYTES);
    ids[slot] = tables.addresses.walletByKey(key) ?? UNKNOWN_ID;
  }
  for (const slot of ascendingOrder(ids)) {
    if (ids[slot] === UNKNOWN_ID) break;
    loadMatching(changes, slot, ids[slot]!);
  }
  for (let slot = 0, last = lastWallet; slot < count; slot++)
    if (!wallets.hasId(slot)) wallets.setId(slot, ++last);
  for (const [rank, slot] of byPrefix.entries()) {
    if (wallets.idAt(slot) <= lastWallet) continue;
    const before = byPrefix[rank - 1];
    const isTaken = ids[slot] !== UNKNOWN_ID || (before !== undefined && prefixes[before] === prefixes[slot]);
    changes.newAddresses.push({ slot, isWholeKey: isTaken });
  }
}

function prefixAt({ wallets }: ChangeSet, slot: number): number {
  const at = wallets.addressOffset(slot);
  let prefix = 0;
  for (let i = 0; i < ADDRESS_PREFIX_BYTES; i++) prefix = prefix * 256 + wallets.bytes[at + i]!;
  return prefix;
}

/**
 * Loads wallet `first`, found by the prefix of an address, or a later wallet with that whole address, if either
 * matches.
 */
function loadMatching({ wallets, tables }: ChangeSet, slot: number, first: number): void {
  if (tables.wallets.loadIfAddressMatches(slot, first)) return;
  const id = tables.addresses.walletByKey(wallets.addressAt(slot));
  if (id !== undefined) tables.wallets.loadInto(slot, id);
}
