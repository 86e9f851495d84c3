/** Indexing from a node whose faults are random, compared with an index of the true chain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nestedCleanup } from '../support/cleanup.ts';
import { runFaults } from '../support/runs/fault-run.ts';
import { runFlapping } from '../support/runs/flapping-run.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a node that misbehaves in every way at random cannot make the index differ from the truth', async (t) => {
  const result = await runFaults({ seed: 1, steps: 30, lasting: false, dirs: [tempDir(t), tempDir(t)] });
  assert.deepEqual(result.actual, result.fresh);
  assert.ok(Object.keys(result.faults).length > 5, JSON.stringify(result.faults));
});

test('nodes of several chains and heights behind one address remove nothing from the index', async (t) => {
  const result = await runFlapping(nestedCleanup(t), {
    seed: 11,
    forMs: 3_000,
    turnMs: [20, 300],
    blocks: 530,
    dirs: { flapping: tempDir(t), fresh: tempDir(t) },
  });
  assert.ok(result.turns > 5, JSON.stringify(result));
  assert.ok((result.states.another_chain ?? 0) > 0, JSON.stringify(result));
});
