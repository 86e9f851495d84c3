/** Entry point of the index-stats thread: measures the index at a path once and ends. */
import type { IndexStats } from '../model/index-stats.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { measureIndex } from '../store/index-stats.ts';
import { thread } from '../threads/thread.ts';

export default thread<string, never, IndexStats>({ niceness: 10 }, (path, { post }) => {
  const db = openIndexForReading(path);
  try {
    post(measureIndex(db, path));
  } finally {
    db.close();
  }
});
