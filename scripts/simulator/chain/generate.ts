import type { Hex } from '../../../src/lib/hex.ts';
import { nextTransaction } from './activity/next-transaction.ts';
import type { GeneratedBlock } from './block.ts';
import {
  blockJson,
  type IncludedTransaction,
  receiptJson,
  traceJson,
  transactionJson,
} from './block-json.ts';
import { CHAIN_DEFAULTS, type ChainOptions } from './options.ts';
import { World } from './world.ts';

/** Unix seconds of the first block; two blocks share each second. */
const GENESIS_TIMESTAMP = 1760000000;
const FIRST_BASE_FEE = 50_000_000_000n;
const MIN_BASE_FEE = 1_000_000_000n;
const GWEI = 1_000_000_000n;
const EMPTY_BLOCK_EVERY = 97;

export interface GeneratedChain {
  options: ChainOptions;
  /** Generated lazily; can be read only once. */
  blocks: Iterable<GeneratedBlock>;
  /** The pools of the blocks generated so far. Each holds both assets of its market. */
  pools: ReadonlySet<Hex>;
  /** Changes the size of the blocks from the next one on: `txPerBlock` on average or, when `even`, in every block. */
  resizeBlocks(txPerBlock: number, even: boolean): void;
}

export function generateChain(options: Partial<ChainOptions> = {}): GeneratedChain {
  const settings = { ...CHAIN_DEFAULTS, ...options };
  const world = new World(settings.seed, settings);
  const size = { txPerBlock: settings.txPerBlock, even: false };
  return {
    options: settings,
    blocks: generateBlocks(world, settings, size),
    pools: world.markets.pools,
    resizeBlocks(txPerBlock, even) {
      Object.assign(size, { txPerBlock, even });
    },
  };
}

function* generateBlocks(world: World, options: ChainOptions, size: BlockSize): Generator<GeneratedBlock> {
  const nonces = new Map<Hex, number>();
  let parentHash = world.prng.hash();
  let baseFee = FIRST_BASE_FEE;
  for (let i = 0; i < options.blocks; i++) {
    const block = generateBlock(world, options, nonces, { ordinal: i, parentHash, baseFee, size });
    parentHash = block.hash;
    baseFee = nextBaseFee(world, baseFee);
    yield block;
  }
}

interface BlockSize {
  txPerBlock: number;
  even: boolean;
}

interface BlockPlace {
  /** 0 for the first block. */
  ordinal: number;
  parentHash: Hex;
  baseFee: bigint;
  size: BlockSize;
}

function generateBlock(
  world: World,
  options: ChainOptions,
  nonces: Map<Hex, number>,
  place: BlockPlace,
): GeneratedBlock {
  const { prng, actors, ledger } = world;
  const number = options.startBlock + place.ordinal;
  const timestamp = GENESIS_TIMESTAMP + Math.floor(place.ordinal * 0.5);
  const hash = prng.hash();
  const miner = prng.pickZipf(actors.proposers);
  const included: IncludedTransaction[] = [];
  let gasUsed = 0;
  let logs = 0;
  for (let left = transactionCount(world, place); left > 0; left--) {
    const index = included.length;
    ledger.position = { block: number, txHash: prng.hash(), txIndex: index, firstLogIndex: logs };
    const next = includeTransaction(world, nonces, place.baseFee, {
      chainId: options.chainId,
      blockHash: hash,
      blockNumber: number,
      gasBefore: gasUsed,
    });
    gasUsed = next.cumulativeGasUsed;
    logs += next.transaction.logs.length;
    included.push(next);
  }
  const header = {
    number,
    hash,
    parentHash: place.parentHash,
    timestamp,
    miner,
    baseFee: place.baseFee,
    gasUsed,
    hasLogs: logs > 0,
    mixHash: prng.hash(),
    receiptsRoot: prng.hash(),
    stateRoot: prng.hash(),
    transactionsRoot: prng.hash(),
  };
  return {
    number,
    hash,
    block: blockJson(header, included.map(transactionJson)),
    receipts: `[${included.map(receiptJson).join(',')}]`,
    trace: options.traces ? `[${included.map(traceJson).join(',')}]` : null,
    transfers: ledger.takeRows(),
  };
}

function transactionCount({ prng }: World, { ordinal, size: { txPerBlock, even } }: BlockPlace): number {
  if (even) return txPerBlock;
  if (ordinal % EMPTY_BLOCK_EVERY === EMPTY_BLOCK_EVERY - 1) return 0;
  return Math.max(1, Math.round(txPerBlock * (0.5 + prng.fraction())));
}

/** Composes the transaction at the ledger's position and determines its nonce, gas and fees. */
function includeTransaction(
  world: World,
  nonces: Map<Hex, number>,
  baseFee: bigint,
  block: { chainId: number; blockHash: Hex; blockNumber: number; gasBefore: number },
): IncludedTransaction {
  const { prng, ledger } = world;
  const { txHash, txIndex, firstLogIndex } = ledger.position;
  const transaction = nextTransaction(world);
  const nonce = nonces.get(transaction.from) ?? 0;
  nonces.set(transaction.from, nonce + 1);

  let gasUsed = 21000;
  if (transaction.logs.length > 0) gasUsed = 50000 + transaction.logs.length * 9000;
  else if (transaction.input !== '0x') gasUsed = 40000 + prng.below(60000);
  const type = prng.below(10) < 7 ? 2 : 0;
  // A legacy transaction costs one more draw. Without it every published chain would change.
  if (type === 0) prng.uint32();
  const priorityFee = BigInt(prng.below(5)) * GWEI;
  return {
    transaction,
    chainId: block.chainId,
    blockHash: block.blockHash,
    blockNumber: block.blockNumber,
    hash: txHash,
    index: txIndex,
    nonce,
    type,
    gasUsed,
    cumulativeGasUsed: block.gasBefore + gasUsed,
    gasPrice: baseFee + priorityFee + (type === 2 ? 0n : 1n),
    priorityFee,
    r: prng.hash(),
    s: prng.hash(),
    firstLogIndex,
  };
}

/** The base fee walks at random by up to 0.1 gwei per block. */
function nextBaseFee({ prng }: World, baseFee: bigint): bigint {
  const next = baseFee + BigInt(prng.below(2001) - 1000) * 100000n;
  return next < MIN_BASE_FEE ? MIN_BASE_FEE : next;
}
