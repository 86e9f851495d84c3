/**
 * The lists of trades are recorded before the first commit, and changes are told until the sums by them are complete.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeDerived } from '../../src/indexer/derive.ts';
import { Progress } from '../../src/indexer/progress.ts';
import { settleTradeRules } from '../../src/indexer/settle-trade-rules.ts';
import { newRules } from '../../src/model/index-rules.ts';
import { address, createIndex } from '../support/index/index-fixture.ts';
import { logTo } from '../support/logs.ts';

test('changed lists are named in the log once and in the status until they are in use', async (t) => {
  const index = createIndex(t);
  const [logs, progress, stop] = [[] as string[], new Progress(5), new AbortController()];
  const checkpoints = { whenIdle: () => Promise.resolve(), checkpointIfLarge: () => undefined };
  const context = { store: index.writer, progress, log: logTo(logs), checkpoints };
  const made = newRules({ chainId: 143, monad: true, configured: {} });
  const settle = (quotes: string[]) =>
    settleTradeRules(context, made, { chainId: 143, configured: { quoteTokens: quotes } }, stop.signal);
  assert.ok(await settle([]));
  index.append([
    {
      a: [
        { from: 'alice', to: 'pool' },
        { kind: 'erc20', token: 'meme', from: 'pool', to: 'alice' },
      ],
    },
  ]);
  assert.deepEqual(logs, []);
  const change = `${address('usd')} counts as a quote token`;
  for (let round = 0; round < 2; round++) assert.ok(await settle([address('usd')]));
  assert.deepEqual(progress.status.tradeChanges, [change]);
  assert.equal(logs.length, 1);
  assert.match(logs[0] ?? '', /^warn the lists of trades have changed; .*counts as a quote token/);
  await completeDerived(context, stop.signal);
  assert.deepEqual(progress.status.tradeChanges, []);
  assert.deepEqual(progress.status.derived, []);
  assert.ok(index.writer.tradeRules().current?.quoteTokens.includes(address('usd')));
});
