/** The REST API over an index file without a server: a client's view, as an object. */
import { prepareApi } from '../../../src/api/api.ts';
import { ReadPool, startReader } from '../../../src/api/read-pool/read-pool.ts';
import type { ConfiguredTradeLists } from '../../../src/model/trade-rules.ts';
import { Snapshot } from '../../../src/query/snapshot.ts';
import { WalletIdCache } from '../../../src/query/wallet-id-cache.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import { SILENT } from '../logs.ts';
import { nodeReadsOf } from './node-reads.ts';
import { checkAnswer } from './openapi.ts';

/**
 * Answers `path` below `/api/` with query values, or with a body. Throws when the answer does not match its
 * documentation.
 */
export type AskApi = (path: string, input: Record<string, unknown>) => Promise<Record<string, unknown>>;

export function askApi(
  owner: { after(close: () => void | Promise<void>): void },
  indexPath: string,
  tradeLists: ConfiguredTradeLists = {},
): AskApi {
  const db = openIndexForReading(indexPath);
  const snapshot = new Snapshot(db);
  const nativeSymbol = 'MON';
  const readers = new ReadPool((onMessage) =>
    startReader({ indexPath, nativeSymbol, maxReorg: 128, tradeLists }, SILENT, onMessage),
  );
  const source = { db, walletIds: new WalletIdCache(db, snapshot), nativeSymbol, maxReorg: 128, tradeLists };
  const api = prepareApi(
    source,
    snapshot,
    readers,
    { record: (error) => error },
    nodeReadsOf(db),
    () => undefined,
  );
  const handlers = new Map(api.endpoints.map(({ endpoint, handle }) => [endpoint.path as string, handle]));
  owner.after(async () => {
    await readers.close();
    snapshot.release();
    db.close();
  });
  return async (path, input) => {
    const handle = handlers.get(`/api/${path}`);
    const head = api.head();
    if (handle === undefined || head === null) throw new Error(`nothing can be asked of ${path}`);
    const { body } = await handle(input, { head, chainDepth: 10 });
    snapshot.release(); // a writer that closes would wait for it
    const parsed: Record<string, unknown> = JSON.parse(body);
    checkAnswer(`/api/${path}`, parsed);
    return parsed;
  };
}
