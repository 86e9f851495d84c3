/** Who has one token number of a contract, from its transfers. Pure functions. */
import { ZERO_ADDRESS } from '../../ui/format.ts';

export interface NftTransfer {
  from: string;
  to: string;
  amount: string;
}

/** The digits of a token number in a URL or a field; null where they are none. */
export function tokenNumberIn(text: string | null): string | null {
  const digits = /^\s*#?(\d{1,78})\s*$/.exec(text ?? '')?.[1];
  return digits === undefined ? null : BigInt(digits).toString();
}

export interface NftHolder {
  address: string;
  units: bigint;
}

/** The holders of all of a number's transfers, largest first. Below zero: received before the first indexed block. */
export function holdersOf(transfers: readonly NftTransfer[]): NftHolder[] {
  const units = new Map<string, bigint>();
  const add = (address: string, amount: bigint) => units.set(address, (units.get(address) ?? 0n) + amount);
  for (const { from, to, amount } of transfers) {
    add(from, -BigInt(amount));
    add(to, BigInt(amount));
  }
  units.delete(ZERO_ADDRESS);
  return [...units]
    .map(([address, held]) => ({ address, units: held }))
    .filter((holder) => holder.units !== 0n)
    .sort((a, b) => (a.units < b.units ? 1 : a.units > b.units ? -1 : 0));
}
