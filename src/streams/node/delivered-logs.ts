/** Logs that clients received, kept so that a reorg can send them again as removed; bounded in blocks and bytes. */
import { MAX_REORG_DEPTH } from '../../chain/block.ts';
import type { SerializedLog } from './fetch-block-logs.ts';

const MAX_BYTES = 16 * 2 ** 20;

/** The logs of a block that were pushed to at least one client; null when they were too large to keep. */
interface Delivered {
  /** Only subscribers from before this block, as LogStream counts blocks, received them. */
  sequence: number;
  logs: SerializedLog[] | null;
  bytes: number;
}

export class DeliveredLogs {
  private readonly blocks = new Map<string, Delivered>();
  private bytes = 0;

  record(hash: string, sequence: number, logs: SerializedLog[]): void {
    if (logs.length === 0) return;
    const bytes = logs.reduce((sum, { json }) => sum + json.length, 0);
    // A branch may return before its removal was published.
    this.bytes += bytes - (this.blocks.get(hash)?.bytes ?? 0);
    this.blocks.set(hash, { sequence, logs, bytes });
    this.evict();
  }

  /** The record of a block, which is then dropped; undefined when there is none. */
  take(hash: string): Readonly<Delivered> | undefined {
    const delivered = this.blocks.get(hash);
    if (delivered === undefined) return undefined;
    this.bytes -= delivered.bytes;
    this.blocks.delete(hash);
    return delivered;
  }

  clear(): void {
    this.blocks.clear();
    this.bytes = 0;
  }

  /** Drops blocks too old for a reorg, and the logs of the oldest ones when they take too many bytes. */
  private evict(): void {
    for (const hash of this.blocks.keys()) {
      if (this.blocks.size <= MAX_REORG_DEPTH) break;
      this.take(hash);
    }
    for (const delivered of this.blocks.values()) {
      if (this.bytes <= MAX_BYTES) break;
      this.bytes -= delivered.bytes;
      delivered.logs = null;
      delivered.bytes = 0;
    }
  }
}
