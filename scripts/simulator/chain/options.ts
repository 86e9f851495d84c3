/** Options of the generator. */
export interface ChainOptions {
  /** Blocks; every 97th is empty. */
  blocks: number;
  /** Transactions per block, on average. A block has between half and one and a half times as many. */
  txPerBlock: number;
  /** The same options and seed yield the same bytes. */
  seed: number;
  chainId: number;
  /** Number of the first block. */
  startBlock: number;
  /** Wallets that exist at the start. */
  wallets: number;
  /** ERC-20 tokens. */
  tokens: number;
  /** One in this many ERC-721 contracts indexes no argument of its transfers, as the first NFTs did; 0 for none. */
  unindexedEvery: number;
  /**
   * Whether wallets buy and sell at pools and of each other, as often as on recorded chains. Off, only swaps for
   * tokens that were just minted occur.
   */
  trades: boolean;
  /** Whether to generate call trees. Internal transfers happen either way. */
  traces: boolean;
}

export const CHAIN_DEFAULTS: ChainOptions = {
  blocks: 1000,
  txPerBlock: 200,
  seed: 1,
  chainId: 20143,
  startBlock: 1,
  wallets: 400,
  tokens: 300,
  unindexedEvery: 0,
  trades: false,
  traces: true,
};
