/** Examines in the background, one token at a time, whether balances follow from transfers. */

import { CleanupStack } from '../lib/cleanup-stack.ts';
import type { DamagedFileError } from '../lib/errors.ts';
import type { ThreadLog } from '../log/logger.ts';
import type { RpcClient } from '../node/client.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import { type Db, openDatabase } from '../store/open-database.ts';
import { toStorageError } from '../store/storage-error.ts';
import {
  BalanceAccuracy,
  prepareTokensToExamine,
  type TokenBalanceAccuracy,
} from '../store/tokens/balance-accuracy.ts';
import { runBackgroundLoop } from './background-loop.ts';
import { type Examination, examineToken } from './examine-token.ts';

/** Shortest pause between two examinations, milliseconds. */
const MIN_PAUSE_MS = 250;
/** Pause between searches when there is nothing to do, milliseconds. */
const IDLE_MS = 2_000;

/** How long to skip a failed token, milliseconds, and how many of them to remember. */
const FAILED_MS = 600_000;
const MAX_FAILED = 1_000;

/** Page cache of the read-only connection, MiB. */
const CACHE_MB = 4;

export interface BalanceAccuracyLoopOptions {
  indexPath: string;
  store: Pick<IndexWriter, 'head' | 'hashAt' | 'balanceAccuracyOf' | 'setBalanceAccuracy'>;
  client: RpcClient;
  startBlock: number;
  wrappedNative: ReadonlySet<string>;
  /** Whether the index is at the node's head, the only place where every node has the state. */
  isFollowing(): boolean;
  log: ThreadLog;
  /** Called whenever an examination finds damage in the index. */
  onDamage?(error: DamagedFileError): void;
}

/** Resolves when the signal aborts. Rejects only for a bug. */
export async function runBalanceAccuracyLoop(
  options: BalanceAccuracyLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const { indexPath, store, client, startBlock, wrappedNative, log, onDamage } = options;
  const closers = new CleanupStack();
  const failedUntil = new Map<number, number>();
  let reader: Reader | undefined;
  const step = async (): Promise<boolean> => {
    reader ??= closers.adopt(openReader(indexPath), ({ db }) => db.close());
    const { db, nextTokens } = reader;
    const token = options.isFollowing() ? pickToken(nextTokens, store, failedUntil) : undefined;
    if (token === undefined) return false;
    markFailed(failedUntil, token); // in advance, in case the examination throws
    const context = { db, client, startBlock, wrappedNative, random: Math.random, signal };
    if (await examineAndStore(store, context, token)) failedUntil.delete(token);
    return true;
  };
  /** Transient disk failures pause the loop, on this connection as on the writer's. */
  const stepOrStorageError = (): Promise<boolean> =>
    step().catch((error: unknown) => {
      throw toStorageError(error, indexPath);
    });
  try {
    await runBackgroundLoop(
      stepOrStorageError,
      { name: 'token quality', idleMs: IDLE_MS, minPauseMs: MIN_PAUSE_MS, log, onDamage },
      signal,
    );
  } finally {
    await closers.close();
  }
}

interface Reader {
  db: Db;
  nextTokens: ReturnType<typeof prepareTokensToExamine>;
}

/** Opens a read-only connection. The writer has already checked the file. */
function openReader(indexPath: string): Reader {
  const db = openDatabase(indexPath, { readonly: true, cacheMb: CACHE_MB });
  try {
    return { db, nextTokens: prepareTokensToExamine(db) };
  } catch (error) {
    db.close();
    throw error;
  }
}

function markFailed(failedUntil: Map<number, number>, token: number): void {
  if (failedUntil.size < MAX_FAILED) failedUntil.set(token, performance.now() + FAILED_MS);
}

/** The next token that did not fail recently. */
function pickToken(
  nextTokens: Reader['nextTokens'],
  store: BalanceAccuracyLoopOptions['store'],
  failedUntil: Map<number, number>,
): number | undefined {
  const now = performance.now();
  for (const [token, until] of failedUntil) if (until < now) failedUntil.delete(token);
  return nextTokens(store.head()?.number ?? 0, failedUntil.size + 1).find((token) => !failedUntil.has(token));
}

/** Returns false when the examination failed. */
async function examineAndStore(
  store: BalanceAccuracyLoopOptions['store'],
  context: Parameters<typeof examineToken>[0],
  token: number,
): Promise<boolean> {
  const known = store.balanceAccuracyOf(token);
  const offsets = known?.quality === BalanceAccuracy.partial ? known.offsets : [];
  const found = await examineToken(context, token, offsets);
  if (found === null || found.quality === null) return false;
  // If the block was rolled back meanwhile, the id may belong to another token.
  if (store.hashAt(found.head.number) === found.head.hash)
    store.setBalanceAccuracy(token, mergeAccuracy(known, found.quality, found));
  return true;
}

/** A worse accuracy stays, because a later sample without a deviation proves less than the sample with one. */
function mergeAccuracy(
  known: TokenBalanceAccuracy | null,
  quality: BalanceAccuracy,
  { offsets, head }: Examination,
): TokenBalanceAccuracy {
  if (known !== null && known.quality >= quality) return { ...known, block: head.number };
  return { quality, offsets, block: head.number };
}
