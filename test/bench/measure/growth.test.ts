import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GrowthPart, growInParts, growthTable } from '../../../scripts/bench/measure/growth.ts';
import type { GrowthPoint } from '../../../scripts/bench/workers/growth.ts';

const MILLION = 1_000_000;

/** A part of a million transfers that took `cpu` us each. */
function part(millions: number, cpu: number): GrowthPoint {
  return {
    cold: false,
    transfers: MILLION,
    seconds: cpu,
    commitCpuSeconds: cpu,
    checkpointCpuSeconds: 0,
    commits: 10,
    walBytes: 1e9,
    readBytes: 1e9,
    peakMegabytes: 500,
    fileBytes: millions * 90e6,
    totalTransfers: millions * MILLION,
    wallets: millions * 100_000,
    holdings: millions * 400_000,
  };
}

/** Grows to `ends`, in millions. Each baseline takes 10 us more than the one before. */
async function grow(ends: number[], withBaselines = true) {
  const steps: string[] = [];
  let baseline = 0;
  const measureBaseline = async () => {
    steps.push('baseline');
    baseline += 10;
    return baseline;
  };
  const parts: GrowthPart[] = [];
  const growing = growInParts(
    ends.map((end) => end * MILLION),
    {
      async growTo(end) {
        steps.push(`to ${end / MILLION}`);
        return part(end / MILLION, 60);
      },
      async warmUp(end) {
        steps.push(`warm-up below ${end / MILLION}`);
      },
      baseline: withBaselines ? measureBaseline : null,
    },
  );
  for await (const one of growing) parts.push(one);
  return { steps, baselines: parts.map(({ baselines }) => baselines) };
}

function row(parts: GrowthPart[], name: string): [column: string | undefined, value: number][] {
  return growthTable(parts)
    .figures.filter((figure) => figure.name === name)
    .map(({ column, samples }) => [column, samples[0] ?? Number.NaN]);
}

test('each large part has a baseline right before and right after it, and starts warm', async () => {
  assert.deepEqual(await grow([2, 3, 9, 10]), {
    steps: [
      ...['to 2', 'to 3', 'baseline'],
      ...['warm-up below 9', 'to 9', 'baseline'],
      ...['warm-up below 10', 'to 10', 'baseline'],
    ],
    baselines: [undefined, undefined, [10, 20], [20, 30]],
  });
});

test('a run that continues a large index measures a baseline first', async () => {
  assert.deepEqual(await grow([100]), {
    steps: ['baseline', 'warm-up below 100', 'to 100', 'baseline'],
    baselines: [[10, 20]],
  });
});

test('no baseline without a large part, nor when they are turned off', async () => {
  assert.deepEqual((await grow([1, 2, 3])).steps, ['to 1', 'to 2', 'to 3']);
  assert.deepEqual(await grow([9, 10], false), {
    steps: ['to 9', 'to 10'],
    baselines: [undefined, undefined],
  });
});

test('the ratio is that to the own baselines, otherwise to the second million', () => {
  // The part to 9 million is from a file of a version without baselines.
  const parts = [part(2, 20), part(9, 30), { ...part(10, 60), baselines: [30, 50] }];
  assert.deepEqual(row(parts, 'processor time per transfer of the second million'), [
    ['to 2,000,000', 20],
    ['to 9,000,000', 20],
    ['to 10,000,000', 40],
  ]);
  assert.deepEqual(row(parts, 'processor time against the second million'), [
    ['to 2,000,000', 1],
    ['to 9,000,000', 1.5],
    ['to 10,000,000', 1.5],
  ]);
});

test('the ratio is left out where nothing is to compare with', () => {
  const parts = [part(9, 30), { ...part(10, 60), baselines: [30, 50] }];
  assert.deepEqual(row(parts, 'processor time against the second million'), [['to 10,000,000', 1.5]]);
});
