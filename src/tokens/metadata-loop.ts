/** Reads the metadata of token contracts in the background, a few at a time. */

import type { DamagedFileError, UpstreamError } from '../lib/errors.ts';
import type { ThreadLog } from '../log/logger.ts';
import type { BlockRef } from '../model/block.ts';
import { hasTokenNumber, shownKind, TransferKind } from '../model/transfer-kind.ts';
import type { RpcCall, RpcClient, RpcReply } from '../node/client.ts';
import { isBusy, isExecutionFailure, isUnknownMethod } from '../node/node-errors.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import { LONGEST_RETRY_S, type TokenMetadata, type UnreadToken } from '../store/tokens/token-metadata.ts';
import { batchAt } from './anchored-batch.ts';
import { runBackgroundLoop } from './background-loop.ts';
import { TokenRefresh } from './token-refresh.ts';

/** Contracts per batch. */
const TOKENS_PER_BATCH = 16;

/** Shortest pause between two batches, milliseconds. */
const MIN_PAUSE_MS = 100;
/** Pause between searches without new tokens, ms. Short, so that streams soon show a new token; a search is cheap. */
const IDLE_MS = 50;

/**
 * Seconds until each retry of a contract with an incomplete answer: its proxy may not be set up yet, or the node may
 * have failed. After the last retry the contract is never called again.
 */
const RETRY_DELAYS_S = [60, 3_600, LONGEST_RETRY_S];
/** Seconds until a retry when the node was too busy. That does not count as an attempt. */
const BUSY_DELAY_S = 60;

/** Resolves when the signal aborts. Rejects only for a bug. */
export function runMetadataLoop(
  store: MetadataStore,
  client: Pick<RpcClient, 'batch'>,
  log: ThreadLog,
  signal: AbortSignal,
  onDamage: (error: DamagedFileError) => void = () => undefined,
  refresh: TokenRefresh = new TokenRefresh(),
): Promise<void> {
  const step = async (): Promise<boolean> => {
    const unread = store.unreadTokens(Date.now() / 1000, TOKENS_PER_BATCH);
    const tokens = [...unread, ...tokensToRefresh(store, refresh, TOKENS_PER_BATCH - unread.length)];
    const head = tokens.length === 0 ? null : store.head();
    if (head === null) return false;
    const { found, busy } = await fetchMetadata(store, client, head, tokens, signal);
    for (const token of found) reportDecimals(store, token, log);
    store.saveMetadata(found);
    if (busy.length === tokens.length) throw busy[0]; // makes the loop back off, so that the node can recover
    return true;
  };
  return runBackgroundLoop(
    step,
    { name: 'token metadata', idleMs: IDLE_MS, minPauseMs: MIN_PAUSE_MS, log, onDamage },
    signal,
  );
}

type MetadataStore = Pick<IndexWriter, 'head' | 'unreadTokens' | 'readToken' | 'logsUnits' | 'saveMetadata'>;

/** Known tokens among those that are due to be read again. */
function tokensToRefresh(store: MetadataStore, refresh: TokenRefresh, limit: number): UnreadToken[] {
  return refresh.take(limit).flatMap((address) => {
    const token = store.readToken(address);
    return token === undefined ? [] : [{ address, kind: token.kind, tries: token.tries }];
  });
}

/** Every amount of the token is shown with its decimals, old ones too. */
function reportDecimals(store: MetadataStore, { address, decimals }: TokenMetadata, log: ThreadLog): void {
  const before = store.readToken(address)?.decimals ?? null;
  if (before !== null && decimals !== null && decimals !== before)
    log.warn({ token: address, before, decimals }, 'a token changed its decimals');
}

/** The outcome per token, and the errors of those that the node was too busy to call. */
async function fetchMetadata(
  store: Pick<IndexWriter, 'logsUnits'>,
  client: Pick<RpcClient, 'batch'>,
  head: BlockRef,
  tokens: readonly UnreadToken[],
  signal: AbortSignal,
): Promise<{ found: TokenMetadata[]; busy: UpstreamError[] }> {
  // lazy: 13 MB that an index without tokens never needs
  const { metadataCalls, decodeMetadata } = await import('./metadata-calls.ts');
  const { decideViewKind, needsViewCalls, viewCalls } = await import('./view-kind.ts');
  const answers = await callEach(client, head, tokens.map(metadataCalls), signal);
  const read = tokens.map((token, i) => ({
    ...token,
    ...decodeMetadata(answers[i]!.map(resultOrUndefined)),
  }));
  const doubts = read.map((token, i) =>
    needsViewCalls(token) && !answers[i]!.some(busyError) ? viewCalls(token) : [],
  );
  const views = await callEach(client, head, doubts, signal);
  const busy: UpstreamError[] = [];
  const found = read.map(({ address, kind, tries, name, symbol, decimals }, i) => {
    const error = [...answers[i]!, ...views[i]!].map(busyError).find((other) => other !== null);
    if (error) {
      busy.push(error);
      return { address, name, symbol, decimals, tries, retryAt: secondsFromNow(BUSY_DELAY_S) };
    }
    const seen = views[i]!.map(resultOrUndefined);
    const viewKind = seen.length === 0 ? null : decideViewKind(kind, seen, () => store.logsUnits(address));
    const isUnits = !hasTokenNumber(shownKind({ kind, viewKind }));
    const isComplete = name !== null && symbol !== null && (!isUnits || decimals !== null);
    return {
      address,
      name,
      symbol,
      decimals: isUnits ? decimals : null,
      ...(kind === TransferKind.erc721 && decimals === null ? {} : { viewKind }), // it may have failed this time
      ...scheduleRetry(tries + 1, isComplete),
    };
  });
  return { found, busy };
}

/** The replies to each list of calls. */
async function callEach(
  client: Pick<RpcClient, 'batch'>,
  head: BlockRef,
  calls: readonly RpcCall[][],
  signal: AbortSignal,
): Promise<RpcReply[][]> {
  const all = calls.flat();
  const replies = all.length === 0 ? [] : await batchAt(client, head, all, signal);
  return calls.map(({ length }) => replies.splice(0, length));
}

/** Undefined when the contract failed or the node is busy. Throws the UpstreamError of a node that cannot run calls. */
function resultOrUndefined(reply: RpcReply): unknown {
  if ('result' in reply) return reply.result;
  if (isUnknownMethod(reply.error) && !isExecutionFailure(reply.error)) throw reply.error;
  return undefined;
}

/** The error of a node that was too busy to run the call, else null. */
function busyError(reply: RpcReply): UpstreamError | null {
  return 'error' in reply && isBusy(reply.error) && !isExecutionFailure(reply.error) ? reply.error : null;
}

function scheduleRetry(tries: number, complete: boolean): Pick<TokenMetadata, 'tries' | 'retryAt'> {
  const wait = complete ? undefined : RETRY_DELAYS_S[tries - 1];
  return { tries, retryAt: wait === undefined ? null : secondsFromNow(wait) };
}

function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}
