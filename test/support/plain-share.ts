/** A part of a whole as the documentation defines it: in whole billionths, and uncut below one. */
export function plainShare(part: bigint, whole: bigint): number {
  const billionths = (1_000_000_000n * part) / whole;
  return billionths > 0n ? Number(billionths) / 1e9 : Number(part) / Number(whole);
}
