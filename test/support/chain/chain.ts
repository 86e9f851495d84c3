/** The chain of a node as the serving side tracks it. */
import { ChainTracker } from '../../../src/chain/tracker.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { NodeConnection } from '../../../src/node/connection.ts';
import type { Cleanup } from '../cleanup.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Reached over HTTP alone. */
export function trackChain(cleanup: Cleanup, url: string): ChainTracker {
  const client = new RpcClient({ url, timeoutMs: 5_000, maxSockets: 4, maxBatch: 60 });
  const node = new NodeConnection({ wsUrl: '', client, log: SILENT });
  const chain = new ChainTracker({ node, pollMs: 50, log: SILENT });
  cleanup.after(() => {
    chain.close();
    return node.close();
  });
  return chain;
}
