/** Indexes of generated chains, to compare. */
import type { TestContext } from 'node:test';
import type { GeneratedBlock } from '../../scripts/simulator/chain/block.ts';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { tempDir } from '../support/temp-dir.ts';

export const chainOf = (seed: number, blocks: number, startBlock = 1): GeneratedBlock[] => [
  ...generateChain({ seed, blocks, startBlock, txPerBlock: 15 }).blocks,
];

/** Every row of a fresh index of the node's current chain. */
export async function freshIndex(t: TestContext, url: string): Promise<string[]> {
  return dumpIndex(await buildIndex({ url, dir: tempDir(t), startBlock: 1 }));
}
