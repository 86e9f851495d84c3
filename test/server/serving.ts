/** A real server over a real index, for tests. */
import { join } from 'node:path';
import { z } from 'zod';
import { openAccess } from '../../src/access/access.ts';
import type { Tiers } from '../../src/access/limiter.ts';
import { prepareApi } from '../../src/api/api.ts';
import type { NodeReads } from '../../src/api/node-reads.ts';
import { NamedQueries } from '../../src/api/queries/named-queries.ts';
import { ReadPool, startReader } from '../../src/api/read-pool/read-pool.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { checkedQueries, runNamedQueries } from '../../src/daemon/named-queries.ts';
import { RpcHandler, type RpcSettings } from '../../src/gateway/handler.ts';
import { methodPolicy } from '../../src/gateway/policy.ts';
import { initialStatus } from '../../src/indexer/progress.ts';
import { Labels } from '../../src/labels/labels.ts';
import { API_ERROR_CODES } from '../../src/lib/errors.ts';
import { createLogger } from '../../src/log/logger.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import type { IndexStatus } from '../../src/model/index-status.ts';
import type { SinkStatus } from '../../src/model/sink-status.ts';
import { StreamingHttpClient } from '../../src/node/http/streaming-client.ts';
import { ReadFailures } from '../../src/query/read-failures.ts';
import type { AdminOptions } from '../../src/server/admin/routes.ts';
import { type Server, type ServerSettings, startServer } from '../../src/server/server.ts';
import { QueryPool } from '../../src/sql/process/query-pool.ts';
import { trackChain } from '../support/chain/chain.ts';
import { nodeReadsOf } from '../support/clients/node-reads.ts';
import { checkAnswer } from '../support/clients/openapi.ts';
import { RPC_SETTINGS } from '../support/daemon/rpc-settings.ts';
import { createIndex, type IndexFixture } from '../support/index/index-fixture.ts';
import { SILENT } from '../support/logs.ts';
import type { Cleanup } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

export const TIERS: Tiers = {
  free: { requests_per_month: 100_000, requests_per_second: 5, chain_depth: 5 },
  tiny: { requests_per_month: 3, requests_per_second: 0, chain_depth: 5 },
  unlimited: { requests_per_month: 0, requests_per_second: 0, chain_depth: 10 },
};

/** The data folder according to the server. */
export const DATA_DIR = '/srv/secret place/atlas';

export interface Serving {
  index: IndexFixture;
  queries: NamedQueries;
  pool: QueryPool;
  server: Server;
  access: ReturnType<typeof openAccess>;
  /** An unlimited key. */
  key: string;
  state: IndexStatus;
  logs: string[];
  metrics: ReturnType<typeof createMetrics>;
  /** A request with the unlimited key. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The JSON of a GET that must succeed. An API answer must match its documentation. */
  json(path: string): Promise<Record<string, unknown>>;
  post(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<Response>;
}

export interface ServingOptions {
  index?: IndexFixture;
  upstream?: string;
  timeoutMs?: number;
  settings?: Partial<ServerSettings>;
  rpc?: Partial<RpcSettings>;
  /** Methods offered through /rpc in addition to the default ones. */
  allow?: string[];
  admin?: AdminOptions;
  /** The state of a PostgreSQL sink. Default: no sink. */
  sinkState?: () => SinkStatus;
  /** `index.stale_seconds`. Default: the check is off. */
  staleSeconds?: number;
  tiers?: Tiers;
  /** How long calls over the rate wait. Default: not at all. */
  rateWaitMs?: number;
  /** REST's node. Default: a node with the index's chain. */
  nodeReads?: NodeReads;
  /** A labels file. Default: none. */
  labelsPath?: string;
  /** Named queries: tables `[queries.NAME]` as TOML. Default: none. */
  queries?: string;
}

/** The queries of `[queries.NAME]` tables. */
export function queriesOf(toml: string): ReturnType<typeof checkedQueries> {
  const tiers = '[tiers.tiny]\nrequests_per_month = 3\nrequests_per_second = 0\nchain_depth = 5\n';
  const { config } = parseConfig({ file: { path: 'atlas.toml', text: tiers + toml } });
  return checkedQueries(config);
}

/** `t` is a test, or a suite via `suiteCleanup` of support/replay.ts. */
export async function serve(t: Cleanup, options: ServingOptions = {}): Promise<Serving> {
  const index = options.index ?? createIndex(t);
  const { db, snapshot, walletIds } = index.snapshot(t);
  const access = openAccess(
    join(tempDir(t), 'keys.db'),
    options.tiers ?? TIERS,
    undefined,
    options.rateWaitMs,
  );
  const { key } = access.keys.create({ name: 'test', tier: 'unlimited' });
  const logs: string[] = [];
  const log = createLogger({ level: 'debug', format: 'json', write: (line) => logs.push(line) });
  const metrics = createMetrics();
  const upstream = options.upstream ?? 'http://127.0.0.1:9';
  const node = new StreamingHttpClient({
    url: upstream,
    timeoutMs: options.timeoutMs ?? 5_000,
    maxSockets: 32,
    maxWaiting: 1_000,
    maxWaitingBytes: 64 * 1024 * 1024,
  });
  const state = statusAt(null);
  const nativeSymbol = 'MON';
  const { labelsPath } = options;
  const readers = new ReadPool((onMessage) =>
    startReader(
      { indexPath: index.path, nativeSymbol, maxReorg: 128, ...(labelsPath && { labelsPath }) },
      SILENT,
      onMessage,
    ),
  );
  const labels = labelsPath === undefined ? undefined : new Labels(labelsPath);
  t.after(() => labels?.close());
  const pool = new QueryPool(index.path, {});
  const queries = new NamedQueries(runNamedQueries(pool, log), { db, maxReorg: 128 });
  queries.offer(queriesOf(options.queries ?? ''));
  const source = { db, walletIds, nativeSymbol, maxReorg: 128, labels, queries };
  const nodeReads = options.nodeReads ?? nodeReadsOf(db);
  const server = await startServer({
    settings: {
      host: '127.0.0.1',
      port: 0,
      tls_cert: '',
      tls_key: '',
      cors_origins: ['*'],
      trusted_proxies: [],
      max_connections: 1_000,
      drain_seconds: 0,
      public_explorer: false,
      ...options.settings,
    },
    api: prepareApi(
      source,
      snapshot,
      readers,
      new ReadFailures({ log, metrics }),
      nodeReads,
      () => undefined,
    ),
    queries,
    rpc: new RpcHandler({
      node,
      chain: trackChain(t, upstream),
      allowed: methodPolicy({ allow: options.allow ?? ['debug_traceCall'] }),
      settings: { ...RPC_SETTINGS, ...options.rpc },
      log,
      metrics,
      pending: null,
    }),
    access,
    indexState: () => state,
    sinkState: options.sinkState,
    dataDir: DATA_DIR,
    readyLag: 10,
    staleSeconds: options.staleSeconds ?? 0,
    nativeSymbol,
    examples: [],
    admin: options.admin,
    metrics,
    log,
  });
  t.after(async () => {
    await server.close();
    await readers.close();
    await pool.close();
    node.close();
    access.close();
    metrics.close();
  });
  const call = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { ...init, headers: { 'X-API-Key': key, ...init.headers } });
  return {
    index,
    queries,
    pool,
    server,
    access,
    key,
    state,
    logs,
    metrics,
    fetch: call,
    async json(path) {
      const response = await call(path);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path}: HTTP ${response.status} ${text}`);
      const body = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
      if (path.startsWith('/api/')) checkAnswer(path.split('?')[0] ?? '', body);
      return body;
    },
    post: (path, body, headers) =>
      call(path, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } }),
  };
}

const ERROR_BODY = z.object({
  error: z.object({ code: z.string(), message: z.string(), param: z.string().optional() }),
  retryAfter: z.int().optional(),
});

/** The body of an error. An API error must have a code listed in the OpenAPI document. */
export async function errorOf(response: Response): Promise<z.infer<typeof ERROR_BODY>> {
  const body = ERROR_BODY.parse(await response.json());
  if (new URL(response.url).pathname.startsWith('/api/')) z.enum(API_ERROR_CODES).parse(body.error.code);
  return body;
}

/** The state of an indexer that is following at this block, or has not begun. */
export function statusAt(block: number | null): IndexStatus {
  if (block === null) return initialStatus();
  return {
    ...initialStatus(),
    phase: 'following',
    startBlock: 1,
    head: { number: block, hash: `0x${'ab'.repeat(32)}` },
    headTimestamp: 1_700_000_000,
    nodeHead: block,
  };
}
