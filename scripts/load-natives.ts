/** Loads the native modules like the daemon. Setup runs it under the pinned Node. A failure is one line on stderr. */
import { nativeLoadError } from '../src/cli/errors.ts';

try {
  const { default: Database } = await import('better-sqlite3');
  new Database(':memory:').close();
  await import('uWebSockets.js');
} catch (error) {
  console.error(nativeLoadError(error)?.message ?? String(error));
  process.exitCode = 1;
}
