/** Entry point of the sink's thread, which has its own connections to the index and to PostgreSQL. */
import { parentPort, workerData } from 'node:worker_threads';
import { pause } from '../lib/async.ts';
import { lowerThreadPriority } from '../lib/thread.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { IndexSource } from './index-source.ts';
import { SinkProgress } from './progress.ts';
import { runSink } from './sink.ts';
import type { FromSink, SinkOptions, ToSink } from './sink-client.ts';

/** Page cache of this connection, MiB. The bulk read must not grow at the expense of the serving thread's cache. */
const CACHE_MB = 8;

/** Shortest time between two reports during writes, milliseconds. */
const REPORT_MS = 200;

async function run(options: SinkOptions): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('sink-thread is a thread entry; it cannot run on its own');
  lowerThreadPriority(5);

  const stop = new AbortController();
  const progress = new SinkProgress(options);
  let news = new AbortController();
  let reportedAt = 0;
  const send = (message: FromSink): void => port.postMessage(message);

  port.on('message', (message: ToSink) => {
    if (message.kind === 'stop') stop.abort();
    else if (message.committedAt !== null) progress.recordIndexCommit(message.committedAt);
    news.abort();
  });

  const db = openIndexForReading(options.indexPath, { cacheMb: CACHE_MB });
  try {
    await runSink(options, {
      source: new IndexSource(db),
      progress,
      async waitForNews(ms) {
        await pause(ms, news.signal);
        if (news.signal.aborted) news = new AbortController();
      },
      report(now) {
        if (now === undefined && performance.now() - reportedAt < REPORT_MS) return;
        reportedAt = performance.now();
        send({ kind: 'status', ...progress.takeReport() });
      },
      log: (level, msg, fields) => send({ kind: 'log', level, msg, fields }),
      signal: stop.signal,
    });
  } finally {
    db.close();
    port.close();
  }
}

// Not awaited: a rejection ends the thread with that error, which its client reports. The single binary is CommonJS,
// which has no top-level await.
void run(workerData);
