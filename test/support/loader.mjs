/**
 * Runs TypeScript in tests: the files of the tests by tsx, and the threads of the program by the loader of its launcher,
 * as users run them. A thread with tsx takes twice the processor time to start.
 */
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) await import('tsx');
else createRequire(import.meta.url)('../../bin/strip-types.cjs');
