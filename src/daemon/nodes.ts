/** The configured nodes and, for several, the watch that chooses one. */
import type { Config } from '../config/parse-config.ts';
import { nodeAddresses } from '../config/urls.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { IndexedChain } from '../node/choice/compare-chain.ts';
import { NodeWatch } from '../node/choice/node-watch.ts';
import { SelectedNode } from '../node/choice/selected-node.ts';
import { setNodeHeaders } from '../node/request-headers.ts';
import { chainOf, hashAt, prepareLastBlock } from '../store/chain.ts';
import { AnchorTable } from '../store/chain-anchors.ts';
import type { Db } from '../store/open-database.ts';

export interface Nodes {
  node: SelectedNode;
  /** Absent for a single node, which is used unconditionally. */
  watch: NodeWatch | undefined;
}

export function openNodes(
  config: Config,
  { db, metrics, log }: { db: Db; metrics: Metrics; log: Logger },
  closers: CleanupStack,
): Nodes {
  setNodeHeaders(config.node.headers);
  const node = new SelectedNode(nodeAddresses(config));
  if (node.addresses.length === 1) return { node, watch: undefined };
  const watch = closers.adopt(
    new NodeWatch({
      node,
      quietMs: config.node.quiet_seconds * 1000,
      indexed: indexedChain(db),
      log,
      onMove: () => metrics.nodeSwitches.inc(),
    }),
    (watch) => watch.close(),
  );
  metrics.onCollect(() => {
    metrics.nodeState.reset();
    metrics.nodeInUse.reset();
    for (const { node, state, current } of watch.status()) {
      metrics.nodeState.set({ node: String(node), state }, 1);
      metrics.nodeInUse.set({ node: String(node) }, current ? 1 : 0);
    }
  });
  return { node, watch };
}

function indexedChain(db: Db): () => IndexedChain | null {
  const lastBlock = prepareLastBlock(db);
  const anchors = new AnchorTable(db);
  return () => {
    const chain = chainOf(db);
    if (chain === null) return null;
    const { genesis, finalized } = anchors.read();
    const head = lastBlock();
    return { ...chain, genesis, finalized, head, hashAt: (number) => hashAt(db, number) };
  };
}
