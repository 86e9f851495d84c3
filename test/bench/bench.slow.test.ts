import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Figure, median, quantile, ratioOf, verdictOf } from '../../scripts/bench/figure.ts';
import { parseProcessorTimes, stolenPercent } from '../../scripts/bench/machine.ts';
import { stepOf } from '../../scripts/bench/measure/statement-times.ts';
import { machineLoadText } from '../../scripts/bench/report/format.ts';
import { ratesByPart } from '../../scripts/bench/setup/fill-index.ts';
import { answerFixed, fixedCall } from '../../scripts/bench/workers/fixed-call.ts';
import { LAUNCHER, ROOT, run } from '../support/daemon/command.ts';
import { codeBlocks } from '../support/docs.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a short run measures the selected figures, records them and leaves nothing behind', async (t) => {
  const dir = tempDir(t);
  const temp = join(dir, 'tmp');
  mkdirSync(temp);
  const file = join(dir, 'bench.json');
  const { code, stdout, stderr } = await run(
    t,
    [
      LAUNCHER,
      'bench',
      '--quick',
      '--transfers',
      '6000',
      '--only',
      'append,rest,growth,trades,answers',
      '--json',
      file,
    ],
    { cwd: dir, env: { TMPDIR: temp, ATLAS_SERVER__PORT: 'no setting of the benchmark' } },
  );
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^wallet_counterparties /m);
  assert.match(stderr, /rest: each endpoint/);

  const json = JSON.parse(readFileSync(file, 'utf8'));
  assert.ok(json.machine.cores > 0);
  assert.ok(json.stolenPercent >= 0 && json.stolenPercent <= 100);
  assert.match(stdout, /; the host gave [\d.]+ % of the processor time wanted to other machines$/m);
  assert.match(json.command, /^npm run bench -- --quick/);
  assert.equal(json.options.transfers, 6_000);
  assert.deepEqual(
    json.results.map(({ measure }: { measure: string }) => measure),
    ['append', 'rest', 'growth', 'trades', 'answers'],
  );
  const figures: (Figure & { median: number })[] = json.results.flatMap(
    (result: { tables: { figures: Figure[] }[] }) => result.tables.flatMap((table) => table.figures),
  );
  assert.ok(figures.length > 50, `only ${figures.length} figures`);
  for (const { name, unit, samples, median } of figures) {
    assert.ok(samples.length > 0 && samples.every(Number.isFinite), `${name} has no samples`);
    assert.ok(Number.isFinite(median) && typeof unit === 'string', `${name} has no median or no unit`);
  }
  const left = readdirSync(temp).filter((name) => !name.startsWith('tsx-')); // what tsx keeps of the sources
  assert.deepEqual(left, []);
});

test('the benchmark runs by the command of the docs', async (t) => {
  const json = join(tempDir(t), 'bench.json');
  const lines = codeBlocks('sh').flatMap((block) => block.split('\n'));
  const command = lines.find((line) => line.includes('npm run bench'))?.replace('bench.json', json);
  const script = `${command} --quick --only decode`;
  const { stdout, stderr } = await run(t, ['/bin/sh', '-ec', script], { cwd: ROOT });
  assert.match(stdout, /^Reading a block/m, stderr);
  const { results } = JSON.parse(readFileSync(json, 'utf8'));
  assert.deepEqual(
    results.map(({ measure }: { measure: string }) => measure),
    ['decode'],
  );
});

test('refuses bad options with one line that names the accepted ones', async (t) => {
  const cwd = tempDir(t);
  for (const [args, message] of [
    [['--only', 'decode,nonsense'], /--only must be a list of decode, filling/],
    [['--transfers', '0'], /--transfers must be a whole number from 1/],
  ] as const) {
    const { code, stderr } = await run(t, [LAUNCHER, 'bench', ...args], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

test('a ratio above 1 is better, whether more or less of the unit is better', () => {
  const pair = { samples: [30, 10, 20], against: { name: 'other', samples: [10, 20, 10] } };
  assert.equal(ratioOf({ name: 'rate', unit: 'requests/s', ...pair }), 2);
  assert.equal(ratioOf({ name: 'time', unit: 'ms', ...pair }), 0.5);
  assert.equal(ratioOf({ name: 'alone', unit: 'ms', samples: [1] }), null);
});

test('a budget applies to the ratio if there is one, else to the median', () => {
  const budget = { floor: 0.5, goal: 0.8 };
  const against = { name: 'other', samples: [100] };
  const rate = (own: number): Figure => ({ name: 'r', unit: 'requests/s', samples: [own], against, budget });
  assert.deepEqual(
    [90, 60, 40].map((own) => verdictOf(rate(own))),
    ['goal', 'floor', 'missed'],
  );
  const time = (ms: number): Figure => ({
    name: 't',
    unit: 'ms',
    samples: [ms],
    budget: { floor: 9, goal: 3 },
  });
  assert.deepEqual(
    [2, 5, 10].map((ms) => verdictOf(time(ms))),
    ['goal', 'floor', 'missed'],
  );
  assert.equal(verdictOf({ name: 'nothing measured', unit: 'ms', samples: [], budget }), null);
});

test('quantiles lie between neighbouring samples', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([1, 2, 3, 4]), 2.5);
  assert.equal(quantile([0, 10], 0.99), 9.9);
  assert.ok(Number.isNaN(median([])));
});

test('the backfill is divided into parts of equal size', () => {
  const course = [
    { at: 0, transfers: 0 },
    { at: 1, transfers: 100 },
    { at: 3, transfers: 200 },
  ];
  assert.deepEqual(ratesByPart(course, 4), [100, 100, 50, 50]);
});

test('statements are named by what they do to which table', () => {
  assert.equal(stepOf('BEGIN IMMEDIATE'), 'commit');
  assert.equal(stepOf('\n      INSERT OR REPLACE INTO wallets (id) VALUES (?)'), 'insert wallets');
  assert.equal(stepOf('UPDATE holdings SET transfers = ?'), 'update holdings');
  assert.equal(stepOf('SELECT wallet FROM addresses WHERE key = ?'), 'read addresses');
});

test('the fixed answer carries the id of the call, and other calls have none', () => {
  const answer = answerFixed(Buffer.from(fixedCall(7).replace('"id":1', '"id":"a"')));
  assert.equal(JSON.parse(answer ?? '').id, 'a');
  assert.equal(answerFixed(Buffer.from('{"id":1,"method":"eth_chainId"}')), null);
  assert.notEqual(fixedCall(1), fixedCall(2));
});

test('steal time is a share of the demanded CPU time', () => {
  const before = parseProcessorTimes('cpu  100 10 20 5000 70 3 7 40 60 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n');
  assert.deepEqual(before, { taken: 140, stolen: 40 });
  const after = parseProcessorTimes('cpu  500 20 80 9000 90 3 7 70 60 0\n');
  assert.equal(stolenPercent(before, after), 6); // 30 of 470 + 30
  assert.equal(stolenPercent(before, before), 0);
  // An old kernel reports fewer fields.
  assert.deepEqual(parseProcessorTimes('cpu  1 2 3 4\n'), { taken: 6, stolen: 0 });
});

test('omits steal time where the system does not report it', () => {
  assert.equal(stolenPercent(null, null), null);
  const text = machineLoadText({ loadBefore: 0.1, loadAfter: 2, stolenPercent: null });
  assert.equal(text, 'load average 0.1 before the run, 2 at its end');
});
