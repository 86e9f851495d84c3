/** The head watch of a round of syncing, with its log. Tells a wrong `node_ws` from a node that was replaced. */

import { abortWith, pause, retry } from '../lib/async.ts';
import { UpstreamError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { settingName } from '../lib/setting-name.ts';
import { fetchChainId } from '../node/methods.ts';
import { HeadComparison } from './head-comparison.ts';
import { HeadWatch } from './head-watch.ts';
import type { IndexerContext } from './indexer-context.ts';

/** Time for a node that is being replaced to answer over HTTP as well, milliseconds. */
const REPLACE_MS = 2_000;

/** Backoff while the node does not answer, milliseconds. */
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;

interface Watched {
  /** Empty if the node has no WebSocket. */
  wsUrl: string;
  pollMs: number;
  /** The chain that the node is on over HTTP. */
  chainId: number;
}

/** Watches for heads. Logs why the node's WebSocket announces none, or those of another chain. */
export function watchHeads(
  { client, progress, log }: Pick<IndexerContext, 'client' | 'progress' | 'log'>,
  { wsUrl, pollMs, chainId }: Watched,
  signal: AbortSignal,
): Pick<HeadWatch, 'next' | 'close'> {
  const ended = new AbortController();
  const unlink = abortWith(ended, signal);
  const advice = `correct ${settingName('node_ws')} or ${settingName('node_http')}`;
  let isOther = false;
  const judge = async (found: number): Promise<void> => {
    isOther = found !== chainId;
    if (!isOther) return;
    await pause(REPLACE_MS, ended.signal);
    const http = await askChainId(client, ended.signal);
    // Where both are on another chain, the node was replaced: the chain guard pauses the index and says so.
    if (http !== chainId || !isOther || !progress.chainLog.allows('node_ws')) return;
    log.error(
      { node_ws: found, node_http: http, advice },
      'node_ws and node_http lead to different chains, so streams announce wrong heads; set both to the same node',
    );
  };
  const { compare } = new HeadComparison(client, (found) => {
    if (!isOther && progress.chainLog.allows('node_ws'))
      log.error(
        { ...found, advice },
        'node_ws announces blocks of another chain than node_http has, under the same chain id, so streams ' +
          'announce wrong heads; set both to the same node',
      );
  });
  const watch = new HeadWatch(wsUrl, pollMs, {
    onHead: guarded('node_ws', (head) => compare(head, ended.signal)),
    onLost: (message) => log.warn({ message }, 'the node announces no heads; polling instead'),
    onChainId: guarded('node_ws', judge),
  });
  return {
    next: (waitSignal) => watch.next(waitSignal),
    async close() {
      ended.abort();
      unlink();
      await watch.close();
    },
  };
}

/** The chain id of the node over HTTP once it answers; undefined when the signal aborts first. */
function askChainId(client: IndexerContext['client'], signal: AbortSignal): Promise<number | undefined> {
  return retry(() => fetchChainId(client, signal), {
    firstMs: RETRY_MIN_MS,
    longestMs: RETRY_MAX_MS,
    signal,
    onFailure(error) {
      if (!(error instanceof UpstreamError)) throw error;
    },
  });
}
