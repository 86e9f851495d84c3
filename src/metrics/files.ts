/** Sizes of the files of the index, read when somebody asks for the metrics. */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Metrics } from '../metrics.ts';

type FileMetrics = Pick<Metrics, 'onRender' | 'indexBytes' | 'walBytes' | 'diskFreeBytes'>;

/** Keeps the gauges of `index.db` and of the disk it lies on. A file that was moved away has no bytes. */
export function followFiles(metrics: FileMetrics, indexPath: string): void {
  metrics.onRender(() => {
    metrics.indexBytes.set(sizeOf(indexPath));
    metrics.walBytes.set(sizeOf(`${indexPath}-wal`));
    const { bavail, bsize } = statfsSync(dirname(indexPath));
    metrics.diskFreeBytes.set(bavail * bsize);
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
