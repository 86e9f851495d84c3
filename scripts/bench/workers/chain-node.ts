/** The worker that is the chain node: generates a chain in segments and serves it. */
import { freemem } from 'node:os';
import type { GeneratedBlock } from '../../simulator/chain/block.ts';
import { type GeneratedChain, generateChain } from '../../simulator/chain/generate.ts';
import type { ReplayNode } from '../../simulator/replay/controls.ts';
import { startReplayNode } from '../../simulator/replay/node.ts';
import { startBareServer } from './bare-server.ts';
import { answerFixed } from './fixed-call.ts';
import { answerLargeLogs } from './large-logs.ts';

/** How a segment of blocks is generated. */
interface SegmentPlan {
  /** Minimum number of transfers, and of blocks. Generation stops when both are reached. */
  transfers: number;
  blocks: number;
  /** Transactions per block: on average or, when `even`, in every block. */
  txPerBlock: number;
  even: boolean;
}

/** By name, in the order of the chain. */
type Segments<T> = Record<'fill' | 'more' | 'large' | 'fast', T>;

export interface ChainPlan {
  seed: number;
  segments: Segments<SegmentPlan>;
}

interface Segment {
  first: number;
  last: number;
  transfers: number;
}

export interface ChainFacts {
  url: string;
  wsUrl: string;
  /** The same node behind a server that answers `eth_call` and calls for large logs at once with a fixed result. */
  fastUrl: string;
  chainId: number;
  segments: Segments<Segment>;
}

/** The node indexes all transactions at its first lookup by hash, for which no measured request should wait. */
const FIRST_LOOKUP = Buffer.from(
  '{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionByHash","params":["0x00"]}',
);

export function chainNodeActions() {
  let node: ReplayNode | null = null;
  const running = (): ReplayNode => {
    if (node === null) throw new Error('the chain node does not run');
    return node;
  };
  return {
    /** Generates the chain and serves it; its head is the last block. */
    async open({ seed, segments: plans }: ChainPlan): Promise<ChainFacts> {
      const chain = generateChain({ seed, blocks: Number.POSITIVE_INFINITY, trades: true });
      const { chainId } = chain.options;
      const segments = emptySegments();
      node = await startReplayNode({
        chain: generateSegments(chain, plans, segments),
        chainId,
        memoryBytes: memoryFor(plans),
      });
      const { url, wsUrl } = node;
      await forward(url, FIRST_LOOKUP);
      return { url, wsUrl, fastUrl: await startFastProxy(url), chainId, segments };
    },
    head: (): number => running().stats().head,
    setHead: (number: number): number => running().setHead(number),
    /**
     * Makes the next block the head. Returns the time of its announcement, Unix milliseconds with fractions. Before
     * that, derives the header from the whole block, which no real node does.
     */
    mine(): number {
      running().mine();
      return performance.timeOrigin + performance.now();
    },
  };
}

export type ChainNodeActions = ReturnType<typeof chainNodeActions>;

/** Approximate bytes of the node's answers per transfer. */
const BYTES_PER_TRANSFER = 2_200;

/**
 * All or nothing: reading back from a file takes time from the processors that the daemon shares, and would slow it
 * down from the block at which memory is full.
 */
function memoryFor(plans: Segments<SegmentPlan>): number {
  const transfers = Object.values(plans).reduce(
    (sum, { transfers, blocks, txPerBlock }) => sum + Math.max(transfers, blocks * txPerBlock),
    0,
  );
  return transfers * BYTES_PER_TRANSFER < freemem() / 2 ? Number.POSITIVE_INFINITY : 0;
}

function emptySegments(): Segments<Segment> {
  const empty = (): Segment => ({ first: 0, last: -1, transfers: 0 });
  return { fill: empty(), more: empty(), large: empty(), fast: empty() };
}

/** The blocks of all segments; `segments` records what they contain. */
function* generateSegments(
  chain: GeneratedChain,
  plans: Segments<SegmentPlan>,
  segments: Segments<Segment>,
): Generator<GeneratedBlock> {
  const blocks = chain.blocks[Symbol.iterator]();
  for (const name of ['fill', 'more', 'large', 'fast'] as const) {
    const plan = plans[name];
    const segment = segments[name];
    chain.resizeBlocks(plan.txPerBlock, plan.even);
    for (let count = 0; count < plan.blocks || segment.transfers < plan.transfers; count++) {
      const { value: block } = blocks.next();
      if (block === undefined) throw new Error('the generated chain came to its end');
      if (count === 0) segment.first = block.number;
      segment.last = block.number;
      segment.transfers += block.transfers.length;
      yield block;
    }
  }
}

/** A fast server in front of the node, which is slower than the daemon under measurement. Resolves with its address. */
async function startFastProxy(nodeUrl: string): Promise<string> {
  const proxy = await startBareServer({
    get: () => null,
    post: (body) => answerFixed(body) ?? answerLargeLogs(body) ?? forward(nodeUrl, body),
  });
  return `http://127.0.0.1:${proxy.port}`;
}

async function forward(url: string, body: Buffer): Promise<string> {
  const response = await fetch(url, { method: 'POST', body: new Uint8Array(body) });
  return response.text();
}
