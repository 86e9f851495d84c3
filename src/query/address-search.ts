/** Finds wallets by the first and the last digits of their address, as shortened addresses show them. */
import { hexToBytes } from '../lib/hex.ts';
import type { Db } from '../store/open-database.ts';
import { ADDRESS_BYTES, ADDRESS_PREFIX_BYTES } from '../store/schema.ts';
import type { WorkBudget } from './work-budget.ts';

/** Most addresses with the wanted beginning that are compared. */
const MAX_CANDIDATES = 5_000;

/** Work units for each: two lookups. */
const UNITS_PER_CANDIDATE = 10;

/** Hex digits in lower case. */
export interface AddressPart {
  start: string;
  end: string;
}

interface FoundAddresses {
  /** Lower case, without prefix; those with most transfers first. */
  addresses: string[];
  /** Whether more addresses begin like this than were compared. */
  isCut: boolean;
}

/** The lowest and the highest address, as keys of the table `addresses`. */
function keysOf(start: string): [Uint8Array, Uint8Array] {
  // Keys are whole addresses or their first bytes, so the lower bound must not be longer than those.
  const first = start.slice(0, 2 * ADDRESS_PREFIX_BYTES);
  return [
    hexToBytes(`0x${first}${first.length % 2 === 0 ? '' : '0'}`),
    hexToBytes(`0x${first.padEnd(2 * ADDRESS_BYTES, 'f')}`),
  ];
}

export function prepareAddressSearch(
  db: Db,
): (part: AddressPart, limit: number, budget: WorkBudget) => FoundAddresses {
  const candidates = /* sql */ `SELECT wallet FROM addresses WHERE key >= +? AND key <= +? LIMIT ${MAX_CANDIDATES}`;
  const count = db.prepare<[Uint8Array, Uint8Array], number>(`SELECT count(*) FROM (${candidates})`).pluck();
  const read = db
    .prepare<[Uint8Array, Uint8Array, string, number], string>(/* sql */ `
      SELECT lower(hex(w.address)) FROM (${candidates}) candidate CROSS JOIN wallets w ON w.id = candidate.wallet
      WHERE hex(w.address) LIKE +? ORDER BY w.transfers DESC, w.id LIMIT +?`)
    .pluck();
  return ({ start, end }, limit, budget) => {
    const keys = keysOf(start);
    const candidates = count.get(...keys) ?? 0;
    budget.spend(UNITS_PER_CANDIDATE * candidates);
    return {
      addresses: read.all(...keys, `${start}%${end}`, limit),
      isCut: candidates === MAX_CANDIDATES,
    };
  };
}
