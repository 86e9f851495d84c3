/** The structures of derived.ts, and what they are made from. */
import type { PartTransfer } from '../model/wallet-part.ts';
import type { Mint } from './tokens/token-mints.ts';

/**
 * `new_trade_sums`: by other lists than those in use; only until they take their place (trades/trade-generations.ts).
 */
export type DerivedName = 'token_history' | 'token_mints' | TradeSumsName;

export type TradeSumsName = 'trade_sums' | 'new_trade_sums';

/** A structure that is complete up to a transfer, 0 for none. */
export interface DerivedEnd {
  name: DerivedName;
  lastTransfer: number;
}

/** Transfers that are added to structures: those from `first` on, up to the end of a block. */
export interface AddedTransfers {
  first: number;
  count: number;
  /** tokens.id of each, 0 for a native one. */
  tokens(): Float64Array;
  mints(): Iterable<Mint>;
  /** The transactions among them that may hold trades. */
  trading(): Iterable<readonly PartTransfer[]>;
}
