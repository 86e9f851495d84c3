/** Who may call, and how often: the keys file with the limiter on top. */
import { refuseForeignLog } from '../store/foreign-log.ts';
import { type KeyStore, openKeyStore } from './keys.ts';
import { beginLog } from './keys-log.ts';
import { Limiter } from './limiter.ts';
import type { Tiers } from './tiers.ts';
import { type OnTrouble, Usage } from './usage.ts';

export interface Access {
  keys: KeyStore;
  usage: Usage;
  limiter: Limiter;
  /** Writes the usage still in memory and closes the file. */
  close(): void;
}

/** Opens `keys.db` for the daemon. Throws FatalError when the file is unusable. `onTrouble`: usage.ts. */
export function openAccess(path: string, tiers: Tiers, onTrouble?: OnTrouble): Access {
  refuseForeignLog(path);
  const keys = openKeyStore(path);
  beginLog(keys.db); // before anything is served
  const usage = new Usage(keys.db, Date.now(), onTrouble);
  return {
    keys,
    usage,
    limiter: new Limiter(tiers, usage),
    close() {
      usage.close();
      keys.close();
    },
  };
}
