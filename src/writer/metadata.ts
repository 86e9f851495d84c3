/** Reading what token contracts say of themselves: in the background, a few at a time, for ever. */
import { StorageError, UpstreamError } from '../errors.ts';
import { backoffMs, pause } from '../lib/backoff.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import type { TokenMetadata, UnreadToken } from '../store/token-metadata.ts';
import type { RpcClient, RpcReply } from '../upstream/client.ts';

/** Contracts asked in one batch. */
const TOKENS_PER_BATCH = 16;

/** The pause behind a batch is as long as the batch took, so that half of one socket's time is used, and no shorter than this. */
const MIN_PAUSE_MS = 100;
/** Between two looks for new tokens when there are none: a look is cheap, and streams tell of a new token at once. */
const IDLE_MS = 50;

/** Between two tries while the node does not answer or the disk does not take it. */
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;

/**
 * When a contract that did not answer in full is asked again, in seconds after each try: its proxy may not have been
 * set up, or the node may have failed. After the last it is taken to have nothing more to say.
 */
const ASK_AGAIN_S = [60, 3_600, 86_400];

/** Resolves when the signal aborts. Rejects only for a defect. */
export async function readMetadata(
  store: Pick<IndexWriter, 'unreadTokens' | 'saveMetadata'>,
  client: Pick<RpcClient, 'batch'>,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const began = performance.now();
    try {
      const tokens = store.unreadTokens(Date.now() / 1000, TOKENS_PER_BATCH);
      if (tokens.length > 0) store.saveMetadata(await ask(client, tokens, signal));
      failures = 0;
      await pause(tokens.length > 0 ? Math.max(MIN_PAUSE_MS, performance.now() - began) : IDLE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof UpstreamError || error instanceof StorageError)) throw error;
      await pause(backoffMs(++failures, RETRY_MIN_MS, RETRY_MAX_MS), signal);
    }
  }
}

async function ask(
  client: Pick<RpcClient, 'batch'>,
  tokens: readonly UnreadToken[],
  signal: AbortSignal,
): Promise<TokenMetadata[]> {
  const { metadataCalls, readWords } = await import('./token-words.ts'); // 13 MB that an index without tokens never needs
  const calls = tokens.map(metadataCalls);
  const replies = await client.batch(calls.flat(), signal);
  return tokens.map((token, i) => {
    const answers = replies.splice(0, calls[i]!.length).map(resultOf);
    const words = readWords(answers);
    const asked = [words.name, words.symbol, ...(answers.length > 2 ? [words.decimals] : [])];
    return { address: token.address, ...words, ...nextTry(token.tries + 1, !asked.includes(null)) };
  });
}

function resultOf(reply: RpcReply): unknown {
  return 'result' in reply ? reply.result : undefined;
}

function nextTry(tries: number, complete: boolean): Pick<TokenMetadata, 'tries' | 'retryAt'> {
  const wait = complete ? undefined : ASK_AGAIN_S[tries - 1];
  return { tries, retryAt: wait === undefined ? null : Math.floor(Date.now() / 1000) + wait };
}
