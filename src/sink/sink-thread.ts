/** Entry point of the sink's thread, which has its own connections to the index and to PostgreSQL. */
import { WakeablePause } from '../lib/async.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { thread } from '../threads/thread.ts';
import { SinkProgress } from './progress.ts';
import { runSink } from './sink.ts';
import type { FromSink, SinkOptions, ToSink } from './sink-client.ts';
import { SinkSource } from './source.ts';

/** Page cache of this connection, MiB. The bulk read must not grow at the expense of the serving thread's cache. */
const CACHE_MB = 8;

/** Shortest time between two reports during writes, milliseconds. */
const REPORT_MS = 200;

export default thread<SinkOptions, ToSink, FromSink>(
  { niceness: 5 },
  async (options, { onMessage, post, log, signal }) => {
    const progress = new SinkProgress(options);
    const pause = new WakeablePause();
    let reportedAt = 0;
    onMessage(({ committedAt }) => {
      if (committedAt !== null) progress.recordIndexCommit(committedAt);
      pause.wake();
    });
    const db = openIndexForReading(options.indexPath, { cacheMb: CACHE_MB });
    try {
      await runSink(options, {
        source: new SinkSource(db, options.maxReorg, options.tradeLists),
        progress,
        waitForNews: (ms) => pause.wait(ms, signal),
        report(now) {
          if (now === undefined && performance.now() - reportedAt < REPORT_MS) return;
          reportedAt = performance.now();
          post(progress.takeReport());
        },
        log,
        signal,
      });
    } finally {
      db.close();
    }
  },
);
