/** Contracts that the rules of an index treat differently, by chain id. Configuration adds to them. */
import type { Hex } from '../lib/hex.ts';

type ByChain = Readonly<Record<number, readonly Hex[]>>;

/** The wrapped native coins of rules 1. Never changed: indexes of the first releases do not name theirs. */
export const FIRST_WRAPPED_NATIVE: ByChain = {
  1: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'],
  10: ['0x4200000000000000000000000000000000000006'],
  56: ['0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'],
  137: ['0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'],
  143: ['0x3bd359c1119da7da1d913d1c4d2b7c461115433a'],
  8453: ['0x4200000000000000000000000000000000000006'],
  42161: ['0x82af49447d8a07e3bd95bd0d56f35241523fbab1'],
  43114: ['0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'],
};

/** The chains of the OP stack, besides those above, with their testnets. Blast, Celo and Fraxtal have other contracts. */
const OP_STACK_CHAINS = [
  130, 204, 360, 478, 480, 690, 919, 1135, 1301, 1750, 1868, 1923, 1924, 1946, 4202, 4326, 4801, 5330, 5611,
  7560, 12553, 17069, 33979, 34443, 48900, 53302, 57073, 60808, 84531, 84532, 763373, 808813, 7777777,
  11155420, 888888888, 999999999,
];

function ofChains(chains: readonly number[], ...contracts: Hex[]): ByChain {
  return Object.fromEntries(chains.map((chain) => [chain, contracts]));
}

/** The wrapped native coins of a new index. */
export const WRAPPED_NATIVE: ByChain = {
  ...FIRST_WRAPPED_NATIVE,
  ...ofChains(OP_STACK_CHAINS, '0x4200000000000000000000000000000000000006'),
  25: ['0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23'],
  100: ['0xe91d153e0b41518a2ce8dd3d7944fa863463a97d'],
  122: ['0x0be9e53fd7edac9f859882afdda116645287c629'],
  5000: ['0x78c1b0c915c4faa5fffa6cabf0219da63d7f4cb8'],
  10143: ['0x760afe86e5de5fa0ee542fc7b7b713e1c5425701'],
  81457: ['0x4300000000000000000000000000000000000004'],
  // Two in use.
  11155111: ['0x7b79995e5f793a07bc00c21412e50ecae098e7f9', '0xfff9976782d46cc05630d1f6ebab18b2324d6b14'],
};

/** The chains of the ZK stack, with their testnets. */
const ZK_STACK_CHAINS = [
  232, 260, 270, 272, 300, 324, 388, 626, 627, 2741, 11124, 37111, 50104, 61166, 978658, 531050104,
];

/**
 * Native coins that are also contracts. They log each move of the coin as a Transfer, so that a token would count it
 * twice.
 */
export const NATIVE_CONTRACTS: ByChain = {
  ...ofChains(ZK_STACK_CHAINS, '0x000000000000000000000000000000000000800a'),
  // Metis and its testnet, and Optimism before Bedrock.
  ...ofChains([10, 1088, 59902], '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000'),
  // Moonbeam, Moonriver and Moonbase Alpha.
  ...ofChains([1284, 1285, 1287], '0x0000000000000000000000000000000000000802'),
  42220: ['0x471ece3750da237f93b8e339c536989b8978a438'],
  44787: ['0xf194afdf50b03e69bd7d057c1aa9e10c9954e4c9'],
};
