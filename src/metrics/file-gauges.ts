/** Sizes of the index files, read when the metrics are scraped. */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Metrics } from '../metrics.ts';

type FileMetrics = Pick<Metrics, 'onCollect' | 'indexBytes' | 'walBytes' | 'diskFreeBytes'>;

/** Sets the gauges of `index.db` and of its disk. A file that was moved away counts as 0 bytes. */
export function registerFileGauges(metrics: FileMetrics, indexPath: string): void {
  metrics.onCollect(() => {
    metrics.indexBytes.set(sizeOf(indexPath));
    metrics.walBytes.set(sizeOf(`${indexPath}-wal`));
    const { bavail, bsize } = statfsSync(dirname(indexPath));
    metrics.diskFreeBytes.set(bavail * bsize);
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
