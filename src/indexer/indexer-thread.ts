/** Entry point of the indexer thread. */
import { SelectedNode } from '../node/choice/selected-node.ts';
import { thread } from '../threads/thread.ts';
import { CodeRequests } from '../tokens/wallet-code-loop.ts';
import { runIndexer } from './indexer.ts';
import type { FromIndexer, IndexerThreadOptions, ToIndexer } from './protocol.ts';

export default thread<IndexerThreadOptions, ToIndexer, FromIndexer>(
  { niceness: 10 }, // a commit can wait a few milliseconds, clients should not
  async (options, { onMessage, post, log, signal, mustStop }) => {
    const node = new SelectedNode(options.nodes);
    node.select(options.inUse, false);
    const codeRequests = new CodeRequests();
    onMessage((message) => {
      if ('at' in message) node.select(message.at, true);
      else codeRequests.add(message.examine);
    });
    await runIndexer(options, { node, send: post, log, codeRequests, mustStop }, signal);
  },
);
