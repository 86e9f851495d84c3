/** Indexes whole chains and compares every answer about them with a recount of their transfers. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { TransferRow } from '../../scripts/simulator/chain/ledger.ts';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { decodeBlock } from '../../src/decode/block.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { PLAIN_RULES } from '../decode/plain.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { type AskApi, askApi } from '../support/clients/ask-api.ts';
import { blockTimes, type IndexedTransfer, indexedTransfers } from '../support/index/index-rows.ts';
import { tempDir } from '../support/temp-dir.ts';
import { Recount } from './recount.ts';
import {
  checkBatches,
  checkChainStats,
  checkFilters,
  checkListing,
  checkPages,
  checkPlaces,
  checkSearch,
  checkToken,
  checkWallet,
  checkWalletTokens,
  checkWhales,
} from './recount-checks.ts';

/** A random chain: its wallets and tokens meet in every way. */
export async function recountRandomChain(t: TestContext, seed: number, blocks: number): Promise<void> {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([toBatch(randomBlocks(1, blocks, `0x${'00'.repeat(32)}`, seed))]);
  writer.close();
  const { recount, ask, times } = recountOf(t, path, 1);
  await checkChainStats(ask, recount, times);
  for (const address of recount.wallets) {
    await checkWallet(ask, recount, address);
    await checkPages(ask, recount, address);
    await checkListing(ask, recount, address);
    await checkWalletTokens(ask, recount, address);
    await checkFilters(ask, recount, address, times);
  }
  if (blocks < 100) await checkPlaces(ask, recount, blocks);
  for (const token of recount.tokens) await checkToken(ask, recount, token, times);
  const amounts = [0, 17, 18, 19, 25, 40, 60].map((digits) =>
    digits < 18 ? `0.${'0'.repeat(17 - digits)}5` : `5${'0'.repeat(Math.min(29, digits - 18))}`,
  );
  await checkWhales(ask, recount, ['0', ...amounts]);
  await checkBatches(ask, recount);
  await checkSearch(ask, recount);
}

/** A generated chain, as a node would serve it. Its transfers must match the index one by one. */
export async function recountGeneratedChain(t: TestContext, blocks: number): Promise<Recount> {
  const { path, made } = indexGenerated(t, { blocks, txPerBlock: 25 });
  const indexed = indexedTransfers(dirname(path)).map(({ id, blockHash, eventIndex, ...made }) => made);
  assert.deepEqual(sortedTexts(indexed), sortedTexts(made.map(asIndexed)));
  const { recount, ask, times } = recountOf(t, path, 1);
  await checkChainStats(ask, recount, times);
  for (const address of recount.wallets) {
    await checkWallet(ask, recount, address);
    await checkPages(ask, recount, address);
    await checkWalletTokens(ask, recount, address);
  }
  for (const token of recount.tokens) await checkToken(ask, recount, token, times);
  await checkWhales(ask, recount, ['0', '0.05', '0.072', '1', '100', '999.5', '4722.3', '1000000']);
  return recount;
}

/** A recount of an index file and the API over it. */
function recountOf(
  t: TestContext,
  path: string,
  startBlock: number,
): { recount: Recount; ask: AskApi; times: Map<number, number> } {
  const times = blockTimes(dirname(path));
  const transfers = indexedTransfers(dirname(path)).map((transfer) => ({
    ...transfer,
    time: new Date((times.get(transfer.block) ?? 0) * 1000).toISOString(),
  }));
  return {
    recount: new Recount(transfers, startBlock, Math.max(...times.keys())),
    ask: askApi(t, path),
    times,
  };
}

function indexGenerated(t: TestContext, options: { blocks: number; txPerBlock: number }) {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 16 });
  writer.setChain(1, 1);
  const out = new BatchBuilder();
  const made: TransferRow[] = [];
  for (const { block, receipts, trace, transfers } of generateChain(options).blocks) {
    const traces = { form: 'tree' as const, value: JSON.parse(trace ?? '[]') };
    decodeBlock(out, { block: JSON.parse(block), receipts: JSON.parse(receipts), traces }, PLAIN_RULES);
    made.push(...transfers);
  }
  writer.append([out.finish(true)]);
  writer.close();
  return { path, made };
}

/** What the generator knows of a transfer. */
type MadeTransfer = Omit<IndexedTransfer, 'id' | 'blockHash' | 'eventIndex'>;

/** A transfer from the generator, in the form of those read from an index. */
function asIndexed(row: TransferRow): MadeTransfer {
  const { block, hash, kind, from, to } = row;
  return {
    block,
    hash,
    kind: kind === 'native' || kind === 'internal' ? NATIVE_KINDS[kind] : kind,
    from,
    to,
    token: row.token ?? null,
    amount: row.amount,
    tokenId: row.tokenId ?? null,
    logIndex: row.logIndex ?? null,
  };
}

const NATIVE_KINDS = { native: 'native_direct', internal: 'native_internal' } as const;

/** In a normalised order, because the generator orders transfers differently within a transaction. */
function sortedTexts(transfers: readonly MadeTransfer[]): string[] {
  return transfers
    .map((transfer) =>
      JSON.stringify(transfer, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    )
    .sort();
}
