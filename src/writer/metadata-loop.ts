/** Reading the metadata of token contracts: in the background, a few at a time, for ever. */
import type { IndexWriter } from '../store/index-writer.ts';
import type { TokenMetadata, UnreadToken } from '../store/token-metadata.ts';
import type { RpcClient, RpcReply } from '../upstream/client.ts';
import { isBusy, isExecutionFailure, isUnknownMethod } from '../upstream/node-errors.ts';
import { runBackgroundLoop } from './background-loop.ts';
import type { Send } from './protocol.ts';

/** Contracts asked in one batch. */
const TOKENS_PER_BATCH = 16;

/** Shortest pause between two batches, milliseconds. */
const MIN_PAUSE_MS = 100;
/** Pause between searches when there are no new tokens, ms: a search is cheap, and streams show a new token at once. */
const IDLE_MS = 50;

/**
 * Seconds after each try when a contract that did not answer completely is asked again: its proxy may not have been set
 * up yet, or the node may have failed. After the last try it is not asked again.
 */
const RETRY_DELAYS_S = [60, 3_600, 86_400];
/** Seconds after which a contract is asked again that a busy node has not called: that was no try. */
const BUSY_DELAY_S = 60;

/** Resolves when the signal aborts. Rejects only for a defect. */
export function runMetadataLoop(
  store: Pick<IndexWriter, 'unreadTokens' | 'saveMetadata'>,
  client: Pick<RpcClient, 'batch'>,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const step = async (): Promise<boolean> => {
    const tokens = store.unreadTokens(Date.now() / 1000, TOKENS_PER_BATCH);
    if (tokens.length > 0) store.saveMetadata(await fetchMetadata(client, tokens, signal));
    return tokens.length > 0;
  };
  return runBackgroundLoop(
    step,
    { name: 'token metadata', idleMs: IDLE_MS, minPauseMs: MIN_PAUSE_MS, send },
    signal,
  );
}

async function fetchMetadata(
  client: Pick<RpcClient, 'batch'>,
  tokens: readonly UnreadToken[],
  signal: AbortSignal,
): Promise<TokenMetadata[]> {
  const { metadataCalls, decodeMetadata } = await import('./metadata-calls.ts'); // 13 MB, which an index without tokens never needs
  const calls = tokens.map(metadataCalls);
  const replies = await client.batch(calls.flat(), signal);
  return tokens.map((token, i) => {
    const answers = replies.splice(0, calls[i]!.length);
    const metadata = decodeMetadata(answers.map(resultOrUndefined));
    const asked = [metadata.name, metadata.symbol, ...(answers.length > 2 ? [metadata.decimals] : [])];
    const retry = answers.some(isFromBusyNode)
      ? { tries: token.tries, retryAt: secondsFromNow(BUSY_DELAY_S) }
      : scheduleRetry(token.tries + 1, !asked.includes(null));
    return { address: token.address, ...metadata, ...retry };
  });
}

/** Undefined when the contract failed or the node is busy. Throws the UpstreamError of a node that does not run calls. */
function resultOrUndefined(reply: RpcReply): unknown {
  if ('result' in reply) return reply.result;
  if (isUnknownMethod(reply.error) && !isExecutionFailure(reply.error)) throw reply.error;
  return undefined;
}

function isFromBusyNode(reply: RpcReply): boolean {
  return 'error' in reply && isBusy(reply.error) && !isExecutionFailure(reply.error);
}

function scheduleRetry(tries: number, complete: boolean): Pick<TokenMetadata, 'tries' | 'retryAt'> {
  const wait = complete ? undefined : RETRY_DELAYS_S[tries - 1];
  return { tries, retryAt: wait === undefined ? null : secondsFromNow(wait) };
}

function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}
