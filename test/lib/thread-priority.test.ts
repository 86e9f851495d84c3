/** Priorities of threads, as the system sees them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

test("lowering one thread's priority leaves the others unchanged", async () => {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const { readlinkSync, existsSync } = require('node:fs');
     const { getPriority } = require('node:os');
     import(workerData).then(({ lowerThreadPriority }) => {
       lowerThreadPriority(7);
       const self = existsSync('/proc/thread-self') ? Number(readlinkSync('/proc/thread-self').split('/').at(-1)) : 0;
       parentPort.postMessage(getPriority(self));
     });`,
    { eval: true, workerData: new URL('../../src/lib/thread.ts', import.meta.url).href },
  );
  const before = getPriority();
  const [own] = await once(worker, 'message');
  assert.equal(own, existsSync('/proc/thread-self') ? before + 7 : before);
  assert.equal(getPriority(), before);
});
