/** Loads everything that a replay node serves into the store. */
import { toQuantity } from '../../../../src/lib/hex.ts';
import { type ChainBlock, readBlock, type StoredBlock, storeBlock } from '../blocks/block.ts';
import { ReplayChain } from '../blocks/chain.ts';
import type { ReplayOptions } from '../options.ts';
import { renumber } from '../simulation/rechain.ts';
import type { TextStore } from '../text-store.ts';
import { loadRecording, type Recording } from './recording.ts';

interface LoadedChain {
  chain: ReplayChain;
  answers: Recording['answers'];
  /** Quantity. */
  chainId: string;
  /** Decimal. */
  networkId: string;
}

/** Rejects when a file is unreadable or not a recording. */
export async function loadChain(options: ReplayOptions, store: TextStore): Promise<LoadedChain> {
  const recording = await loadRecording(options.files ?? [], store);
  const blocks = [...recording.blocks];
  for await (const block of options.chain ?? []) blocks.push(storeBlock(store, block));
  blocks.sort((a, b) => a.number - b.number);
  const chain = new ReplayChain(
    options.rechain === undefined ? blocks : rechain(blocks, options.rechain, store),
  );
  chain.headIndex = initialHeadIndex(chain, options);
  return { chain, answers: recording.answers, ...network(recording, options.chainId) };
}

/** The requested chain id, else the recorded one, else 1. */
function network({ chainId, networkId }: Recording, override: number | undefined) {
  if (override !== undefined) return { chainId: toQuantity(override), networkId: String(override) };
  return { chainId: chainId ?? '0x1', networkId: networkId ?? String(Number(chainId ?? 1)) };
}

function initialHeadIndex(chain: ReplayChain, { head, blockTimeMs }: ReplayOptions): number {
  const last = chain.length - 1;
  const first = chain.at(0);
  if (!first) return last;
  if (head === undefined) return blockTimeMs ? 0 : last;
  return head >= first.number ? chain.indexAtOrBelow(head) : Math.min(last, Math.max(0, head - 1));
}

/** The blocks as one linked chain, numbered from `start` on. */
function rechain(blocks: readonly StoredBlock[], start: number, store: TextStore): StoredBlock[] {
  let parentHash: string | null = null;
  return blocks.map((stored, i) => {
    const block: ChainBlock = renumber(readBlock(store, stored), start + i, parentHash);
    parentHash = block.hash;
    // Call trees do not name their block, so they need no second copy.
    return { ...storeBlock(store, { ...block, trace: null }), trace: stored.trace };
  });
}
