/**
 * Loaded before each test file: the daemon's threads run from the bundle that `npm test` has just built. Through tsx,
 * each thread would first compile its modules, which takes a second of CPU for a daemon with all of its threads.
 */
import { registerHooks } from 'node:module';

const BUNDLED = new URL('./bundled-entries.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const isThreadTable = specifier === './entries.ts' && context.parentURL?.includes('/src/threads/');
    return next(isThreadTable ? BUNDLED : specifier, context);
  },
});
