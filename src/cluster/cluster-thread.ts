/** Entry point of the key-sharing thread, which has its own connections to keys.db, index.db and PostgreSQL. */
import { openKeysFile } from '../access/keys-file.ts';
import { WakeablePause } from '../lib/async.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { thread } from '../threads/thread.ts';
import type { ClusterOptions, FromCluster, ToCluster } from './cluster-client.ts';
import { idsAt, readIdentity } from './daemon-table.ts';
import { ClusterSync } from './sync.ts';

export default thread<ClusterOptions, ToCluster, FromCluster>(
  {},
  async (options, { onMessage, post, log, signal }) => {
    const db = openKeysFile(options.keysPath);
    const index = openIndexForReading(options.indexPath, { cacheMb: 1 });
    const pause = new WakeablePause();
    const sync = new ClusterSync(options, {
      db,
      identity: () => readIdentity(index),
      idsAt: (block) => idsAt(index, block),
      post,
      wait: (ms) => pause.wait(ms, signal),
      wake: () => pause.wake(),
      log,
      signal,
    });
    onMessage((message) => {
      if (message.kind === 'usage') sync.noteUsage(message.totals);
      else sync.requestChange(message);
    });
    try {
      await sync.run();
    } finally {
      index.close();
      db.close();
    }
  },
);
