/** Expected results of a whole chain, from the ledger. */
import type { ExpectedResults } from './expected.ts';
import { coordinatedWallets, fundingChains } from './expected-funding.ts';
import { chosenTokens, distinctTokens } from './expected-tokens.ts';
import { chosenWallets } from './expected-wallets.ts';
import type { WhaleTransfer } from './facts.ts';
import type { ChainOptions } from './options.ts';
import type { World } from './world.ts';

const RULES = [
  'native: value > 0 of a successful transaction (a creation counts towards the new contract); internal: CALL/CREATE/CREATE2/SELFDESTRUCT frames below the root with value > 0 and no error in the frame or above it',
  'erc20: Transfer with 3 topics and 32 data bytes; erc721: Transfer with 4 topics and no data; erc1155: TransferSingle and each row of TransferBatch',
  'malformed logs count for nothing; balances are sums of deltas as unbounded integers (the huge token goes past 2^256)',
  'firstDirectFunding / firstInternalFunding: the earliest such native transfer into the wallet from another account (a transfer to oneself funds nobody); latestNativeIn: the newest from another account, direct before internal',
  'fundingChains: hop i funded by its first direct funder, else its first internal funder; stops at a wallet without funder or already in the chain; at most 10 hops',
  'ties: holders by balance descending, then address ascending; receivers in chain order',
] as const;

/** `bytes` is the size of the chain's file form without compression. */
export function expectedResults(world: World, options: ChainOptions, bytes: number): ExpectedResults {
  const { ledger, actors } = world;
  return {
    generator: 'synth-chain',
    options: orderedOptions(options),
    rules: RULES,
    counts: { blocks: options.blocks, ...ledger.counts },
    firstBlock: options.startBlock,
    lastBlock: options.startBlock + options.blocks - 1,
    distinctTokens: distinctTokens(ledger, actors.huge.address),
    tokens: chosenTokens(ledger, actors.huge.address),
    hugeToken: actors.huge.address,
    wallets: chosenWallets(ledger, actors.contracts()),
    fundingChains: fundingChains(world),
    coordinated: coordinatedWallets(ledger),
    largestNative: largest(ledger.whales, 50),
    nativeTransfersOfAtLeast1000: ledger.whales.length,
    walletsSeen: ledger.wallets.size,
    uncompressedBytes: bytes,
  };
}

/** The options in the order of the written file, whatever order the caller gave them in. */
function orderedOptions(options: ChainOptions): ChainOptions {
  const { blocks, txPerBlock, seed, chainId, startBlock, wallets, tokens, traces } = options;
  return { blocks, txPerBlock, seed, chainId, startBlock, wallets, tokens, traces };
}

/** By amount descending; of equal amounts the later transfer comes first. */
function largest(whales: readonly WhaleTransfer[], count: number): WhaleTransfer[] {
  return whales
    .toReversed()
    .map((whale) => ({ whale, wei: BigInt(whale.amountWei) }))
    .sort((a, b) => compareDescending(a.wei, b.wei))
    .slice(0, count)
    .map(({ whale }) => whale);
}

function compareDescending(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a > b ? -1 : 1;
}
