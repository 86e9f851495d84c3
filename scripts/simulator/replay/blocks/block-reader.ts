import { LruMap } from '../../../../src/lib/lru-map.ts';
import { methodNotSupported } from '../rpc-error.ts';
import { jsonBytes, type RpcBlock, type RpcReceipt, type RpcTrace } from '../rpc-json.ts';
import type { TextStore } from '../text-store.ts';
import type { BlockPart, StoredBlock } from './block.ts';
import { flatTraces } from './flat-traces.ts';
import { type IndexedLog, type LogFilter, matchesLog } from './log-filter.ts';

/** The parts of stored blocks and values derived from them, with a cache of recent ones. */
export class BlockReader {
  private readonly store: TextStore;
  private readonly logs = new LruMap<string, IndexedLog[]>(2000);
  private readonly textsWithHashes = new LruMap<string, Buffer>(1000);
  private readonly blocks = new LruMap<string, RpcBlock>(16);
  private readonly receipts = new LruMap<string, RpcReceipt[]>(16);
  private readonly traces = new LruMap<string, RpcTrace[]>(16);

  constructor(store: TextStore) {
    this.store = store;
  }

  /** The recorded text of a part. Throws an RpcError if the recording lacks it. */
  text(block: StoredBlock, part: BlockPart): Buffer {
    const stored = block[part];
    if (stored === null) throw methodNotSupported();
    return this.store.read(stored);
  }

  /** The block with hashes in place of whole transactions. */
  blockWithHashes(block: StoredBlock): Buffer {
    return cached(this.textsWithHashes, block, () => {
      const full: RpcBlock = JSON.parse(this.text(block, 'block').toString());
      return jsonBytes({ ...full, transactions: full.transactions.map(({ hash }) => hash) });
    });
  }

  transactionHashes(block: StoredBlock): string[] {
    const { transactions }: { transactions: string[] } = JSON.parse(this.blockWithHashes(block).toString());
    return transactions;
  }

  /** The block's header as `newHeads` shows it. */
  headerJson(block: StoredBlock): string {
    return JSON.stringify({
      ...JSON.parse(this.blockWithHashes(block).toString()),
      transactions: undefined,
      uncles: undefined,
      withdrawals: undefined,
    });
  }

  parsedBlock(block: StoredBlock): RpcBlock {
    return cached(this.blocks, block, () => JSON.parse(this.text(block, 'block').toString()));
  }

  parsedReceipts(block: StoredBlock): RpcReceipt[] {
    return cached(this.receipts, block, () => JSON.parse(this.text(block, 'receipts').toString()));
  }

  parsedTraces(block: StoredBlock): RpcTrace[] {
    return cached(this.traces, block, () => JSON.parse(this.text(block, 'trace').toString()));
  }

  /** The recorded flat traces, else those derived from the call trees. */
  flatTraces(block: StoredBlock): Buffer {
    if (block.flatTrace) return this.text(block, 'flatTrace');
    const traces = this.parsedTraces(block);
    return jsonBytes(flatTraces(block, this.parsedBlock(block).transactions, traces));
  }

  /** JSON of the block's logs that pass the filter, in order. */
  matchingLogs(block: StoredBlock, filter: LogFilter): string[] {
    const logs = cached(this.logs, block, () => this.indexLogs(block));
    return logs.filter((log) => matchesLog(filter, log)).map(({ json }) => json);
  }

  private indexLogs(block: StoredBlock): IndexedLog[] {
    const receipts: RpcReceipt[] = JSON.parse(this.text(block, 'receipts').toString());
    return receipts.flatMap(({ logs }) =>
      logs.map((log) => ({
        address: log.address.toLowerCase(),
        topics: log.topics.map((topic) => topic.toLowerCase()),
        json: JSON.stringify(log),
      })),
    );
  }
}

/** The cached value of a block, created by `create` if missing. */
function cached<V>(values: LruMap<string, V>, { hash }: StoredBlock, create: () => V): V {
  const known = values.get(hash);
  if (known !== undefined) return known;
  const value = create();
  values.set(hash, value);
  return value;
}
