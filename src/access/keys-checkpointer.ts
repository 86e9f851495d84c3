/**
 * Keeps the WAL of `keys.db` short without blocking the serving thread. A checkpoint waits for the disk, tens of
 * milliseconds during a backfill, so no connection checkpoints automatically (keys-file.ts).
 */

import { messageOf } from '../lib/errors.ts';
import { fileBytes } from '../lib/files.ts';
import { guarded } from '../lib/guard.ts';
import type { ThreadLog } from '../log/logger.ts';
import { CheckpointClient } from '../store/checkpoint-client.ts';

/** Milliseconds between checks of the WAL's size. Usage writes under load add 1 to 2 MB per minute. */
const CHECK_INTERVAL_MS = 60_000;

/** A WAL of at least this many bytes is checkpointed. */
const MIN_WAL_BYTES = 4 * 2 ** 20;

export class KeysCheckpointer {
  private readonly walPath: string;
  private readonly client: CheckpointClient;
  private readonly log: ThreadLog;
  private readonly timer: NodeJS.Timeout;
  private running: Promise<void> | null = null;

  constructor(path: string, log: ThreadLog) {
    this.walPath = `${path}-wal`;
    this.client = new CheckpointClient(path, { minWalBytes: MIN_WAL_BYTES, emptiesWal: true, log });
    this.log = log;
    this.timer = setInterval(
      guarded('checkpoint of the keys', () => this.checkpointIfLarge()),
      CHECK_INTERVAL_MS,
    ).unref();
  }

  /** Checkpoints a long WAL. Resolves when done or not needed. Logs a failure, and the next check tries again. */
  checkpointIfLarge(): Promise<void> {
    this.running ??= this.checkpoint().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Stops the checks; resolves when no thread is running, at the latest after `limitMs`. */
  async close(limitMs?: number): Promise<void> {
    clearInterval(this.timer);
    await this.client.close(limitMs);
    await this.running;
  }

  private async checkpoint(): Promise<void> {
    try {
      this.client.checkpointIfLarge(fileBytes(this.walPath));
      await this.client.whenIdle();
    } catch (error) {
      const reason = messageOf(error);
      this.log.warn({ reason }, 'the write-ahead log of keys.db cannot be checkpointed and grows');
    }
  }
}
