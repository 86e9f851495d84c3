/** The loops beside indexing that ask the node: metadata of tokens, how accurate balances are, and code of wallets. */
import type { DamagedFileError } from '../lib/errors.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import { type BalanceAccuracyLoopOptions, runBalanceAccuracyLoop } from '../tokens/balance-accuracy-loop.ts';
import { runMetadataLoop } from '../tokens/metadata-loop.ts';
import type { TokenRefresh } from '../tokens/token-refresh.ts';
import { type CodeRequests, runWalletCodeLoop } from '../tokens/wallet-code-loop.ts';
import { type CallRecorder, newNodeClient } from './node-client.ts';
import type { NodeClientOptions, Send } from './protocol.ts';

/** Background calls get one socket and small answers, so that they do not delay block fetches. */
const LIMITS = { maxSockets: 1, maxResponseBytes: 8 * 2 ** 20 };

interface BackgroundDeps
  extends Pick<BalanceAccuracyLoopOptions, 'startBlock' | 'wrappedNative' | 'isFollowing' | 'log'> {
  indexPath: string;
  from: NodeClientOptions;
  store: IndexWriter;
  calls: CallRecorder;
  send: Send;
  refresh: TokenRefresh;
  codeRequests: CodeRequests;
}

/** Starts the loops. The returned signal aborts with `signal` or when a task fails; then `stop` rejects. */
export function startBackgroundTasks(
  { indexPath, from, store, calls, send, log, refresh, codeRequests: requests, ...rest }: BackgroundDeps,
  signal: AbortSignal,
): { signal: AbortSignal; stop(): Promise<void> } {
  const stopController = new AbortController();
  const client = newNodeClient(from, calls, LIMITS);
  const stopSignal = AbortSignal.any([signal, stopController.signal]);
  /** Reports damage but keeps indexing, which may never touch the damaged page. */
  const onDamage = ({ message }: DamagedFileError) => send({ kind: 'unreadable', message });
  const tasks = [
    runMetadataLoop(store, client, log, stopSignal, onDamage, refresh),
    runBalanceAccuracyLoop({ indexPath, store, client, log, onDamage, ...rest }, stopSignal),
    runWalletCodeLoop({ store, client, requests, log, onDamage, ...rest }, stopSignal),
  ];
  const allTasks = Promise.all(tasks.map((task) => task.finally(() => stopController.abort())));
  allTasks.catch(() => undefined); // `stop` reports the rejection
  return {
    signal: stopSignal,
    async stop() {
      stopController.abort();
      await client.close();
      await Promise.allSettled(tasks);
      await allTasks;
    },
  };
}
