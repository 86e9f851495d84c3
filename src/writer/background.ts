/** Background work beside following the chain: reading token metadata and balances from contracts. */
import type { IndexWriter } from '../store/index-writer.ts';
import { RpcClient } from '../upstream/client.ts';
import type { CallRecorder } from './calls.ts';
import { readMetadata } from './metadata.ts';
import type { WriterOptions } from './protocol.ts';
import { examineTokens, type QualityOptions } from './token-quality.ts';

/** Few sockets and small answers: this must not delay the fetching of blocks. */
const SOCKETS = 1;
const MAX_RESPONSE_BYTES = 8 * 2 ** 20;

export interface BackgroundParts
  extends Pick<QualityOptions, 'startBlock' | 'wrappedNative' | 'isFollowing' | 'send'> {
  store: IndexWriter;
  calls: CallRecorder;
}

/** The returned signal aborts with `signal`, or when a part of the work fails; `end` then rejects. */
export function startBackground(
  { node, indexPath }: WriterOptions,
  { store, calls, ...rest }: BackgroundParts,
  signal: AbortSignal,
): { signal: AbortSignal; end(): Promise<void> } {
  const over = new AbortController();
  const client = new RpcClient({
    url: node.http,
    timeoutMs: node.timeoutMs,
    maxSockets: SOCKETS,
    maxBatch: node.batch,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    onCall: calls.record,
  });
  const both = AbortSignal.any([signal, over.signal]);
  const parts = [
    readMetadata(store, client, rest.send, both),
    examineTokens({ indexPath, store, client, ...rest }, both),
  ];
  const work = Promise.all(parts.map((part) => part.finally(() => over.abort())));
  work.catch(() => undefined); // `end` reports the rejection
  return {
    signal: both,
    async end() {
      over.abort();
      await client.close();
      await Promise.allSettled(parts);
      await work;
    },
  };
}
