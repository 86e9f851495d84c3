/** Keys in PostgreSQL for a command, which needs no thread. */

import type { KeyChanges } from '../access/key.ts';
import { cacheKeys } from '../access/keys-file.ts';
import { FatalError, RequestError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import type { Db } from '../store/open-database.ts';
import { joinFile } from './join-file.ts';
import { changeKey } from './key-table.ts';
import { ClusterSession, publicReason } from './session.ts';
import { SharedKeys } from './shared-keys.ts';

interface DirectKeys {
  changes: KeyChanges;
  close(): Promise<void>;
}

/** Connects and brings the keys in the file up to date. Throws FatalError when PostgreSQL is unavailable. */
export async function openSharedKeys(url: string, db: Db): Promise<DirectKeys> {
  let session: ClusterSession | undefined;
  try {
    session = await ClusterSession.open(url);
    await joinFile(db, session);
    const opened = session;
    return { changes: changesThrough(opened, db), close: () => opened.close() };
  } catch (error) {
    await session?.close();
    throw fatal(error);
  }
}

function changesThrough(session: ClusterSession, db: Db): KeyChanges {
  return new SharedKeys(async (change) => {
    const outcome = await changeKey(session, change).catch((error: unknown) => {
      throw fatal(error);
    });
    if (outcome instanceof RequestError) throw outcome;
    cacheKeys(db, [outcome], null);
    return outcome;
  });
}

function fatal(error: unknown): FatalError {
  return new FatalError(`${settingName('access.postgres')}: ${publicReason(error)}`, { cause: error });
}
