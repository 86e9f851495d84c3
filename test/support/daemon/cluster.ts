/** Members of a cluster without their servers: keys, counts, and the thread that shares both. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Access, openAccess } from '../../../src/access/access.ts';
import type { KeyRecord } from '../../../src/access/key.ts';
import type { Tiers } from '../../../src/access/limiter.ts';
import { ClusterClient } from '../../../src/cluster/cluster-client.ts';
import { SharedKeys } from '../../../src/cluster/shared-keys.ts';
import type { Cleanup } from '../cleanup.ts';
import { createIndex, type IndexFixture } from '../index/index-fixture.ts';
import { logTo } from '../logs.ts';
import { tempDir } from '../temp-dir.ts';

/** `free` is small enough to be used up, `unlimited` has no limits. */
const TIERS: Tiers = {
  free: { requests_per_month: 100, requests_per_second: 0, chain_depth: 5 },
  unlimited: { requests_per_month: 0, requests_per_second: 0, chain_depth: 10 },
};

export interface Member {
  access: Access;
  client: ClusterClient;
  dir: string;
  logs: string[];
  /** Counts this many requests of the key with this text, one by one. Returns how many were admitted. */
  request(key: string, count: number): number;
  /** The record of a key, or null when it is refused. */
  verify(key: string): KeyRecord | null;
  /** Stops it cleanly. */
  stop(): Promise<void>;
}

interface MemberOptions {
  url: string;
  name?: string;
  /** Folder of keys.db. Default: a new one. */
  dir?: string;
  /** Its index. Default: an empty one. */
  index?: Pick<IndexFixture, 'path'>;
  /** Ends the start. The member is stopped then. */
  signal?: AbortSignal;
}

/** Starts a member. Rejects like a daemon that may not start. */
export async function startMember(cleanup: Cleanup, options: MemberOptions): Promise<Member> {
  const { url, name = 'one', dir = tempDir(cleanup), index = createIndex(cleanup) } = options;
  mkdirSync(dir, { recursive: true });
  const keysPath = join(dir, 'keys.db');
  const access = openAccess(keysPath, TIERS);
  const logs: string[] = [];
  const client = new ClusterClient(
    { url, keysPath, indexPath: index.path, name, program: 'test', tiers: JSON.stringify(TIERS) },
    access,
    {
      onStatus: () => undefined,
      log: logTo(logs),
    },
  );
  access.changes = new SharedKeys((change) => client.change(change));
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await client.stop();
    access.close();
  };
  cleanup.after(stop);
  await client.ready(options.signal).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    access,
    client,
    dir,
    logs,
    request(key, count) {
      const record = access.keys.verify(key);
      if (record === null) throw new Error('the key is refused');
      let admitted = 0;
      for (let i = 0; i < count; i++) if (access.limiter.take(record, 1).ok) admitted++;
      return admitted;
    },
    verify: (key) => access.keys.verify(key),
    stop,
  };
}
