/** What to generate. */
export interface ChainOptions {
  /** Blocks; every 97th is empty. */
  blocks: number;
  /** Transactions a block on average; a block has half to one and a half of it. */
  txPerBlock: number;
  /** The same options and seed give the same bytes. */
  seed: number;
  chainId: number;
  /** Number of the first block. */
  startBlock: number;
  /** Wallets that exist at the start. */
  wallets: number;
  /** ERC-20 tokens. */
  tokens: number;
  /** Whether to generate call trees; internal transfers happen either way. */
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
  traces: true,
};
