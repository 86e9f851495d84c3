/** Loads the native modules as the daemon does; setup runs it under the pinned Node. A failure is one line on stderr. */
import { nativeFault } from '../src/cli/native.ts';

try {
  const { default: Database } = await import('better-sqlite3');
  new Database(':memory:').close();
  await import('uWebSockets.js');
} catch (error) {
  console.error(nativeFault(error)?.message ?? String(error));
  process.exitCode = 1;
}
