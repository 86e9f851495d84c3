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

/**
 * The chains of the OP stack, besides those above, with their testnets. Blast, Celo and Fraxtal have other contracts.
 */
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
  // Polygon and its testnets.
  ...ofChains([137, 80001, 80002], '0x0000000000000000000000000000000000001010'),
  // Metis and its testnet, and Optimism before Bedrock.
  ...ofChains([10, 1088, 59902], '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000'),
  // Moonbeam, Moonriver and Moonbase Alpha.
  ...ofChains([1284, 1285, 1287], '0x0000000000000000000000000000000000000802'),
  42220: ['0x471ece3750da237f93b8e339c536989b8978a438'],
  44787: ['0xf194afdf50b03e69bd7d057c1aa9e10c9954e4c9'],
};

/** Tokens that are worth a native coin each beside the wrapped ones, and are exchanged for it at any time. */
export const NATIVE_EQUIVALENTS: ByChain = {
  // Blur's pool, in which bids wait.
  1: ['0x0000000000a39bb272e79075ade125fd351887ac'],
};

/** Large stable coins: what people pay with. */
export const QUOTE_TOKENS: ByChain = {
  1: [
    '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', // USDC
    '0xdac17f958d2ee523a2206206994597c13d831ec7', // USDT
    '0x6b175474e89094c44da98b954eedeac495271d0f', // DAI
    '0xdc035d45d973e3ec169d2276ddab16f1e407384f', // USDS
    '0x4c9edd5852cd905f086c759e8383e09bff1e68b3', // USDe
    '0x6c3ea9036406852006290770bedfcaba0e23a0e8', // PYUSD
    '0x853d955acef822db058eb8505911ed77f175b99e', // FRAX
    '0x4fabb145d64652a948d72533023f6e7a623c7c53', // BUSD
    '0x0000000000085d4780b73119b644ae5ecd22b376', // TUSD
  ],
  10: [
    '0x0b2c639c533813f4aa9d7837caf62653d097ff85', // USDC
    '0x7f5c764cbc14f9669b88837ca1490cca17c31607', // USDC.e
    '0x94b008aa00579c1307b0ef2c499ad98a8ce58e58', // USDT
    '0xda10009cbd5d07dd0cecc66161fc93d7c9000da1', // DAI
  ],
  56: [
    '0x55d398326f99059ff775485246999027b3197955', // USDT
    '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d', // USDC
    '0xe9e7cea3dedca5984780bafc599bd69add087d56', // BUSD
    '0x1af3f329e8be154074d8769d1ffa4ee058b1dbc3', // DAI
  ],
  137: [
    '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', // USDC
    '0x2791bca1f2de4661ed88a30c99a7a9449aa84174', // USDC.e
    '0xc2132d05d31c914a87c6611c10748aeb04b58e8f', // USDT
    '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063', // DAI
  ],
  143: [
    '0x754704bc059f8c67012fed69bc8a327a5aafb603', // USDC
    '0x00000000efe302beaa2b3e6e1b18d08d69a9012a', // AUSD
    '0xe7cd86e13ac4309349f30b3435a9d337750fc82d', // USDT0
  ],
  8453: [
    '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', // USDC
    '0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca', // USDbC
    '0x50c5725949a6f0c72e6c4a641f24049a917db0cb', // DAI
  ],
  10143: ['0x534b2f3a21130d7a60830c2df862319e593943a3'], // USDC
  42161: [
    '0xaf88d065e77c8cc2239327c5edb3a432268e5831', // USDC
    '0xff970a61a04b1ca14834a43f5de4533ebddb5cc8', // USDC.e
    '0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9', // USDT
    '0xda10009cbd5d07dd0cecc66161fc93d7c9000da1', // DAI
  ],
  43114: [
    '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e', // USDC
    '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7', // USDT
  ],
};

/** Receivers of fees that have the same address on every chain. */
export const FEE_SINKS: readonly Hex[] = [
  // EntryPoint of ERC-4337: v0.6, v0.7, v0.8 and v0.9.
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
  '0x433709009b8330fda32311df1c2afa402ed8d009',
  // Paymasters that are paid in tokens: Pimlico's for each EntryPoint, Circle's.
  '0x6666666666667849c56f2850848ce1c4da65c68b',
  '0x777777777777aec03fd955926dbf81597e66834c',
  '0x888888888888ec68a58ab8094cc1ad20ba3d2402',
  '0x6c973ebe80dcd8660841d4356bf15c32460271c9',
  '0x0578cfb241215b77442a541325d6a4e6dfe700ec',
];
