/** Access control: API keys, their usage, and the limits on both. */

import { type Db, setBusyTimeout } from '../store/open-database.ts';
import { isDiskFull, toOpenError } from '../store/storage-error.ts';
import { primeWal, rejectForeignWal } from '../store/wal.ts';
import type { KeyChanges } from './key.ts';
import { type KeyStore, openKeyStore } from './keys.ts';
import { KEYS_CORRUPTION_ADVICE } from './keys-file.ts';
import { Limiter, type Tiers } from './limiter.ts';
import { type OnFailure, UsageCounter } from './usage.ts';
import { WaitingLine } from './waiting-line.ts';

export interface Access {
  keys: KeyStore;
  /** Where keys are issued and changed: `keys`, unless several daemons share them. */
  changes: KeyChanges;
  usage: UsageCounter;
  limiter: Limiter;
  waitingLine: WaitingLine;
  /** Writes the usage still in memory and closes the file. */
  close(): void;
}

/**
 * Opens `keys.db` for the daemon. Throws FatalError when the file is unusable. See usage.ts for `onFailure` and
 * waiting-line.ts for `rateWaitMs`.
 */
export function openAccess(path: string, tiers: Tiers, onFailure?: OnFailure, rateWaitMs = 0): Access {
  rejectForeignWal(path);
  const keys = openKeyStore(path);
  primeUnlessFull(keys.db); // before anything is served
  // The serving thread never waits for another process's lock: usage is written a little later, and the operator is
  // asked to retry.
  setBusyTimeout(keys.db, 0);
  const usage = new UsageCounter(keys.db, Date.now(), onFailure);
  const limiter = new Limiter(tiers, usage);
  const waitingLine = new WaitingLine(limiter, rateWaitMs);
  keys.onInvalidated((ids) => waitingLine.expel(ids));
  return {
    keys,
    changes: keys,
    usage,
    limiter,
    waitingLine,
    close() {
      setBusyTimeout(keys.db); // counts not written now are lost
      usage.close();
      keys.close();
    },
  };
}

/** On a full disk the existing keys still work; usage.ts reports the failing writes. */
function primeUnlessFull(db: Db): void {
  try {
    primeWal(db);
  } catch (error) {
    if (!isDiskFull(error)) throw toOpenError(db.name, error, KEYS_CORRUPTION_ADVICE);
  }
}
