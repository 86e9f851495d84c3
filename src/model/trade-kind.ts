/** What a trade is called, in the order in which people read it: its rules are in src/trades. */
export const TRADE_KINDS = ['buy', 'sell', 'swap', 'mixed'] as const;
export type TradeKind = (typeof TRADE_KINDS)[number];
