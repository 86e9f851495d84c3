/** A server with the operator's panel enabled, for tests. */
import { join } from 'node:path';
import { actOn } from '../../src/daemon/hooks.ts';
import { hookJson } from '../../src/hooks/hook-json.ts';
import { parseHookChange, parseHookSpec } from '../../src/hooks/hook-spec.ts';
import { type Hook, type HookStore, openHookStore } from '../../src/hooks/hook-store.ts';
import type { Activity } from '../../src/metrics/activity.ts';
import type { IndexStats, IndexStatsState } from '../../src/model/index-stats.ts';
import type { AdminHooks, AdminOptions } from '../../src/server/admin/routes.ts';
import type { AdminSql } from '../../src/server/admin/sql.ts';
import type { LiveSocket } from '../../src/server/ws/connections.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type Serving, type ServingOptions, serve } from './serving.ts';

export const TOKEN = 'correct horse battery staple';

interface Operating extends Serving {
  sockets: LiveSocket[];
  indexStats: IndexStatsState;
  activity: Activity;
  hooks: HookStore;
  /** A request to `/admin/api` with the operator token. */
  operate(path: string, init?: RequestInit): Promise<Response>;
}

export async function operate(
  t: Cleanup,
  { sql, ...options }: ServingOptions & { sql?: AdminSql } = {},
): Promise<Operating> {
  const sockets: LiveSocket[] = [];
  const indexStats: IndexStatsState = { latest: null, failure: null };
  const activity: Activity = {
    totals: { requests: 0, errors: 0, refusals: 0, rpcCalls: 0, cacheHits: 0 },
    residentBytes: 3 * 2 ** 28,
    heapBytes: 2 ** 27,
    samples: [],
  };
  const hooks = openHookStore(join(tempDir(t), 'hooks.db'));
  t.after(() => hooks.close());
  const admin: AdminOptions = {
    token: TOKEN,
    indexStats: () => indexStats,
    sockets: () => sockets,
    closeSocket(id) {
      const at = sockets.findIndex((socket) => socket.id === id);
      if (at >= 0) sockets.splice(at, 1);
      return at >= 0;
    },
    hooks: adminHooks(hooks),
    labels: {
      count: 1_234,
      summary: () => [{ source: 'exchanges.csv', category: 'exchange', labels: 1_234 }],
    },
    activity: () => activity,
    ...(sql && { sql }),
    settings: () =>
      JSON.stringify({
        'server.port': { value: 8650, source: 'default' },
        'trades.native_equivalents': { value: [`0x${'ab'.repeat(20)}`], source: 'default' },
      }),
  };
  const serving = await serve(t, { admin, ...options });
  return {
    ...serving,
    sockets,
    indexStats,
    activity,
    hooks,
    operate: (path, init = {}) =>
      fetch(`${serving.server.url}/admin/api${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${TOKEN}`, ...init.headers },
      }),
  };
}

/** The panel's hooks on a file, without a delivery thread. */
function adminHooks(store: HookStore): AdminHooks {
  const context = { lists: store.lists.get, allowPrivate: true };
  const withSecret = (hook: Hook) => ({ ...hookJson(hook), secret: hook.secret });
  return {
    list: () => store.list().map(hookJson),
    create: (body) => withSecret(store.create(parseHookSpec(body, context), null, 0)),
    update: (id, body) => hookJson(store.update(id, parseHookChange(body, context))),
    rotate: (id) => withSecret(store.rotate(id)),
    act: (id, action) => hookJson(actOn(store, id, action)),
    lists: () => store.lists.list(),
  };
}

/** Stats of an index with 15 million transfers up to block 1,000, whose newest blocks have 2,500 each. */
export function indexStatsOf(differences: Partial<IndexStats> = {}): IndexStats {
  return {
    at: Date.now(),
    seconds: 1,
    head: 1_000,
    transfers: 15_000_000,
    fileBytes: 1_500_000_000,
    walBytes: 0,
    freeBytes: 60_000_000_000,
    tables: [{ name: 'transfers', bytes: 1_500_000_000 }],
    unmeasured: null,
    kinds: {
      estimated: true,
      transfers: { native_direct: 10, native_internal: 0, erc20: 30, erc721: 0, erc1155: 0 },
    },
    growth: { transfersPerDay: 1e6, transfersPerBlock: 2_500, seconds: 86_400 },
    ...differences,
  };
}
