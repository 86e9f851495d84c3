/** Whether a transaction may hold trades: most hold none, so that is told from the numbers of its transfers alone. */

/** Wallets and tokens of transfers, by any numbers that are equal where they are. */
export interface TransferColumns {
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
  readonly token: ArrayLike<number>;
}

/** Up to this many transfers, comparing each with each is faster than a set. */
const FEW = 16;

/** Whether the transfers `start..end - 1`, a transaction, move two assets, and a wallet both gives and gets. */
export function mayTrade(columns: TransferColumns, start: number, end: number): boolean {
  const { token } = columns;
  let other = start + 1;
  while (other < end && token[other] === token[start]) other++;
  return other < end && isTwoSided(columns, start, end);
}

/** Whether a wallet both gives and gets in the transfers `start..end - 1`. */
export function isTwoSided(
  { from, to }: Pick<TransferColumns, 'from' | 'to'>,
  start: number,
  end: number,
): boolean {
  if (end - start > FEW) {
    const givers = new Set<number>();
    for (let at = start; at < end; at++) givers.add(from[at]!);
    for (let at = start; at < end; at++) if (to[at] !== from[at] && givers.has(to[at]!)) return true;
    return false;
  }
  for (let giver = start; giver < end; giver++)
    for (let at = start; at < end; at++)
      if (to[at] === from[giver] && from[at] !== to[at] && from[giver] !== to[giver]) return true;
  return false;
}
