/**
 * An index file built in this thread by the program's own loader and writer. An indexer thread takes a second of CPU
 * before its first block, so only tests of that thread start one.
 */
import { join } from 'node:path';
import { deriveLoadRules, loadBlocks } from '../../../src/indexer/backfill/load-blocks.ts';
import { ChainGuard } from '../../../src/indexer/chain-guard.ts';
import { ruleSources, rulesOfIndex } from '../../../src/indexer/rules-of-index.ts';
import { finalityOf } from '../../../src/model/finality.ts';
import { newTradeRules } from '../../../src/model/trade-rules.ts';
import { probeCapabilities } from '../../../src/node/capabilities.ts';
import type { RpcClient } from '../../../src/node/client.ts';
import { fetchHeader } from '../../../src/node/methods.ts';
import { IndexWriter } from '../../../src/store/index-writer.ts';
import { withClient } from './verify.ts';

const BLOCKS_PER_COMMIT = 16;

interface BuildOptions {
  url: string;
  dir: string;
  /** The last block. Default: the head of the node. */
  head?: number;
  /** The first block of a new index; an existing one is continued. Default: 0. */
  startBlock?: number;
  traces?: boolean;
}

/** Builds or continues the index in a folder. Returns its path. */
export function buildIndex(options: BuildOptions): Promise<string> {
  return withClient(options.url, async (client) => {
    const path = join(options.dir, 'index.db');
    const store = new IndexWriter(path, { cacheMb: 8 });
    try {
      await append(store, client, options);
    } finally {
      store.close();
    }
    return path;
  });
}

async function append(
  store: IndexWriter,
  client: RpcClient,
  { head, startBlock = 0, traces = true }: BuildOptions,
): Promise<void> {
  const capabilities = await probeCapabilities(client, { traces, head: 'latest', finality: 'auto' });
  const made = rulesOfIndex(store.rules(), ruleSources(capabilities, {}));
  const rules = deriveLoadRules(capabilities, made);
  if (store.chain() === null) store.setChain(capabilities.chainId, startBlock, made);
  const { chainId } = capabilities;
  store.setTradeRules(newTradeRules({ chainId, wrappedNative: made.wrappedNative, configured: {} }));
  const last = head ?? (await fetchHeader(client, 'latest'))?.number ?? 0;
  let first = (store.head()?.number ?? startBlock - 1) + 1;
  for (; first <= last; first += BLOCKS_PER_COMMIT) {
    const to = Math.min(last, first + BLOCKS_PER_COMMIT - 1);
    store.append([await loadBlocks(client, rules, first, to)]);
  }
  const { signal } = new AbortController();
  const finality = finalityOf('auto', capabilities);
  const limits = { headTag: 'latest', finality, isTagProved: () => false, maxReorg: 128 } as const;
  await new ChainGuard(store, client, limits, signal).confirmChain();
  const finalized = await fetchHeader(client, 'finalized').catch(() => null); // the node may have none
  if (finalized !== null && store.hashAt(finalized.number) === finalized.hash)
    store.setFinalized(finalized.number);
}
