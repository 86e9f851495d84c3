/** Who may call, and how often: the keys file with the limiter on top. */
import { rejectForeignWal } from '../store/foreign-wal.ts';
import { type Db, setBusyTimeout } from '../store/open-database.ts';
import { isDiskFull, toOpenError } from '../store/storage-error.ts';
import { type KeyStore, openKeyStore } from './keys.ts';
import { primeWal } from './keys-checkpointer.ts';
import { KEYS_CORRUPTION_ADVICE } from './keys-file.ts';
import { Limiter } from './limiter.ts';
import type { Tiers } from './tiers.ts';
import { type OnFailure, UsageCounter } from './usage.ts';

export interface Access {
  keys: KeyStore;
  usage: UsageCounter;
  limiter: Limiter;
  /** Writes the usage still in memory and closes the file. */
  close(): void;
}

/** Opens `keys.db` for the daemon. Throws FatalError when the file is unusable. `onFailure`: usage.ts. */
export function openAccess(path: string, tiers: Tiers, onFailure?: OnFailure): Access {
  rejectForeignWal(path);
  const keys = openKeyStore(path);
  primeUnlessFull(keys.db); // before anything is served
  // The serving thread never waits for the lock of another process: usage is written a little later, and the operator is
  // told to try again.
  setBusyTimeout(keys.db, 0);
  const usage = new UsageCounter(keys.db, Date.now(), onFailure);
  return {
    keys,
    usage,
    limiter: new Limiter(tiers, usage),
    close() {
      setBusyTimeout(keys.db); // what is not written now is lost
      usage.close();
      keys.close();
    },
  };
}

/** On a full disk the existing keys are served all the same; usage.ts reports what cannot be written. */
function primeUnlessFull(db: Db): void {
  try {
    primeWal(db);
  } catch (error) {
    if (!isDiskFull(error)) throw toOpenError(db.name, error, KEYS_CORRUPTION_ADVICE);
  }
}
