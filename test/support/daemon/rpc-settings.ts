import type { RpcSettings } from '../../../src/gateway/handler.ts';

/** The gateway with everything enabled, and limits that tests reach. */
export const RPC_SETTINGS: RpcSettings = {
  slow_ms: 1_000,
  cache_mb: 16,
  merge: true,
  cache: true,
  local: true,
  logs_max_range: 10_000,
  logs_node_range: 100,
  concurrency_per_key: 64,
};
