/** A server with the operator's panel on, for tests. */

import type { IndexStats, IndexStatsState } from '../../src/model/index-stats.ts';
import type { AdminOptions } from '../../src/server/admin/routes.ts';
import type { LiveSocket } from '../../src/server/ws/connections.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { type Serving, type ServingOptions, serve } from './serving.ts';

export const TOKEN = 'correct horse battery staple';

export interface Operating extends Serving {
  sockets: LiveSocket[];
  indexStats: IndexStatsState;
  /** A request to `/admin/api` with the operator token. */
  operate(path: string, init?: RequestInit): Promise<Response>;
}

export async function operate(t: Cleanup, options: ServingOptions = {}): Promise<Operating> {
  const sockets: LiveSocket[] = [];
  const indexStats: IndexStatsState = { latest: null, failure: null };
  const admin: AdminOptions = {
    token: TOKEN,
    indexStats: () => indexStats,
    sockets: () => sockets,
    hooks: { list: () => [], create: () => ({}), act: () => ({}), lists: () => [] },
    settings: () => JSON.stringify({ 'server.port': { value: 8650, source: 'default' } }),
  };
  const serving = await serve(t, { admin, ...options });
  return {
    ...serving,
    sockets,
    indexStats,
    operate: (path, init = {}) =>
      fetch(`${serving.server.url}/admin/api${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${TOKEN}`, ...init.headers },
      }),
  };
}

/** Stats of an index of 15 million transfers up to block 1,000, whose newest blocks have 2,500 each. */
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
