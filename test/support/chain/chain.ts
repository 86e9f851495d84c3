/** The chain of a node as the serving side tracks it. */
import { ChainTracker } from '../../../src/chain/tracker.ts';
import type { FinalityRule } from '../../../src/model/finality.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { NodeConnection } from '../../../src/node/connection.ts';
import type { Cleanup } from '../cleanup.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** How blocks of the chain become final. */
export interface TestFinality {
  rule: FinalityRule;
  maxReorg: number;
}

/** Reached over HTTP alone. */
export function trackChain(
  cleanup: Cleanup,
  url: string,
  { rule, maxReorg }: TestFinality = { rule: 'depth', maxReorg: 128 },
): ChainTracker {
  const client = new RpcClient({ url, timeoutMs: 5_000, maxSockets: 4, maxBatch: 60 });
  const node = new NodeConnection({ wsUrl: '', client, log: SILENT });
  const chain = new ChainTracker({ node, pollMs: 50, maxReorg, log: SILENT });
  chain.finality.setRule(rule, 'node');
  cleanup.after(() => {
    chain.close();
    return node.close();
  });
  return chain;
}
