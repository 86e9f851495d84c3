/** Sizes of the index files, read when the metrics are scraped. */
import { fileBytes, freeDiskBytes } from '../lib/file-size.ts';
import type { Metrics } from '../metrics.ts';

type FileMetrics = Pick<Metrics, 'onCollect' | 'indexBytes' | 'walBytes' | 'diskFreeBytes'>;

/** Sets the gauges of `index.db` and of its disk. A file that was moved away counts as 0 bytes. */
export function registerFileGauges(metrics: FileMetrics, indexPath: string): void {
  metrics.onCollect(() => {
    metrics.indexBytes.set(fileBytes(indexPath));
    metrics.walBytes.set(fileBytes(`${indexPath}-wal`));
    metrics.diskFreeBytes.set(freeDiskBytes(indexPath));
  });
}
