/** Stock clients with default settings send many calls at once. Their key's rate costs them time, but no answers. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BATCHING, PATIENT_WEB3, SINGLE, WEB3_GIVES_UP } from '../support/clients/stock-clients.ts';
import { type Outcome, type StockWorld, startStockWorld } from '../support/clients/stock-world.ts';
import { codeBlock, ROOT } from '../support/docs.ts';
import { suiteCleanup } from '../support/nodes/replay.ts';

const world = startStockWorld(suiteCleanup());

for (const [name, client] of Object.entries(BATCHING)) {
  for (const tier of ['free', 'growth', 'pro']) {
    test(`${name} gets up to 1,000 calls at once answered on ${tier}`, async () => {
      const { run } = await world;
      for (const count of [6, 60, 150, 1_000]) {
        let { answered, wrong, error } = await run(client, tier, count);
        for (let tries = 1; error === WEB3_GIVES_UP && tries < 5; tries++)
          ({ answered, wrong, error } = await run(client, tier, count));
        if (error === WEB3_GIVES_UP)
          ({ answered, wrong, error } = await runPatiently(await world, tier, count));
        assert.deepEqual([answered, wrong, error], [count, 0, null]);
      }
    });
  }
}

/** Runs web3 without its time limit. The rate of the key must not make it slower than a key without one. */
async function runPatiently({ run }: StockWorld, tier: string, count: number): Promise<Outcome> {
  const unlimited = await run(PATIENT_WEB3, 'unlimited', count);
  const outcome = await run(PATIENT_WEB3, tier, count);
  const { seconds } = outcome;
  assert.ok(seconds < 1 + 5 * unlimited.seconds, `${seconds} s, ${unlimited.seconds} s without a rate`);
  return outcome;
}

test('clients that send single calls get what the rate admits during the wait', async () => {
  const { run } = await world;
  const runs = Object.entries(SINGLE).flatMap(([name, client]) =>
    [['free', 20] as const, ['growth', 150] as const].map(async ([tier, count]) => {
      const { answered, wrong, error } = await run(client, tier, count);
      assert.deepEqual([name, tier, answered, wrong, error], [name, tier, count, 0, null]);
    }),
  );
  await Promise.all(runs);
});

test('a call that never gets its turn is refused, and the client learns why', async () => {
  const { run } = await world;
  const { answered, wrong, error } = await run(SINGLE['web3 4'] ?? assert.fail(), 'free', 60);
  assert.ok(answered >= 40 && answered <= 46, `${answered} of 60 within 8 s at 5/s`);
  assert.equal(wrong, 0);
  assert.match(error ?? '', /429|more than 5 requests/);
});

for (const example of ['viem', 'ethers']) {
  test(`the ${example} example of the docs gets 200 parallel calls answered on a free key`, async () => {
    const code = codeBlock(`js ${example}`);
    const [, client] = /^console\.log\(await (\w+)\.getBlockNumber\(\)\);$/m.exec(code) ?? [];
    assert.ok(client, 'the example ends with a call');
    const many = `const addresses = Array.from({ length: 200 }, (_, i) =>
      '0x' + (i + 1).toString(16).padStart(40, '0'));
      const read = (address) => ${client}.getBalance(${example === 'viem' ? '{ address }' : 'address'});
      console.log((await Promise.all(addresses.map(read))).reduce((sum, value) => sum + value));`;
    const url = new URL((await world).urlFor('free'));
    const source = `const url = ${JSON.stringify(url.origin)};
      const key = ${JSON.stringify(url.searchParams.get('api_key'))};
      ${code.replace(/^console\.log.*$/m, many)}`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
      cwd: ROOT,
    });
    assert.equal(BigInt(stdout.trim().replace('n', '')), (200n * 201n * 7n) / 2n);
  });
}
