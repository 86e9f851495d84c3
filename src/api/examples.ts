/** Values that the examples are made of. */
export const example = {
  wallet: '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be',
  other: '0x7a250d5630b4cf539739df2c5dacb4c659f2488d',
  funder: '0x28c6c06298d514db089934071355e5743bf21d60',
  token: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  txHash: '0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b',
  time: '2026-11-21T08:00:00.000Z',
} as const;

/** A native transfer that funded a wallet, without its sender. */
export const exampleFunding = {
  amount: '1.5',
  amountWei: '1500000000000000000',
  txHash: example.txHash,
  blockNumber: 4711,
  timestamp: example.time,
  source: 'direct',
} as const;
