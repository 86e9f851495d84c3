/** Entry point of the key-sharing thread, which has its own connections to keys.db, index.db and PostgreSQL. */
import { parentPort, workerData } from 'node:worker_threads';
import { openKeysFile } from '../access/keys-file.ts';
import { pause } from '../lib/async.ts';
import { openIndexForReading } from '../store/index-file.ts';
import type { ClusterOptions, FromCluster, ToCluster } from './cluster-client.ts';
import { readIdentity } from './daemon-table.ts';
import { ClusterSync } from './sync.ts';

async function run(options: ClusterOptions): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('cluster-thread is a thread entry; it cannot run on its own');
  const db = openKeysFile(options.keysPath);
  const index = openIndexForReading(options.indexPath, { cacheMb: 1 });
  const stop = new AbortController();
  let news = new AbortController();
  const wake = () => news.abort();
  const sync = new ClusterSync(options, {
    db,
    identity: () => readIdentity(index),
    post: (message: FromCluster) => port.postMessage(message),
    async wait(ms) {
      await pause(ms, news.signal);
      if (!stop.signal.aborted) news = new AbortController();
    },
    wake,
    signal: stop.signal,
  });
  port.on('message', (message: ToCluster) => {
    if (message.kind === 'usage') sync.noteUsage(message.totals);
    else if (message.kind === 'change') sync.requestChange(message);
    else {
      stop.abort();
      wake();
    }
  });
  try {
    await sync.run();
  } finally {
    index.close();
    db.close();
    port.close();
  }
}

// Not awaited: a rejection ends the thread with that error, which its client reports. The single binary is CommonJS,
// which has no top-level await.
void run(workerData);
