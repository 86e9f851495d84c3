import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Planner, WatchSet } from '../../src/hooks/planner.ts';
import { IndexSource } from '../../src/streams/transfers/index-source.ts';
import { CHAIN, signalFilter } from '../streams/filters.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { address, createIndex } from '../support/index/index-fixture.ts';

test('the transactions of a hook’s wallets are read together, not one for each event', (context) => {
  const cleanup = nestedCleanup(context);
  const index = createIndex(cleanup);
  index.append(Array.from({ length: 20 }, (_, i) => ({ [`payment ${i}`]: [{ from: 'alice', to: 'bob' }] })));
  const alone: number[] = [];
  const planner = new Planner({
    db: index.reader(cleanup),
    sourceOf: (reads) =>
      new IndexSource({
        reads: {
          ...reads,
          transactionStart(first, limit) {
            alone.push(first);
            return reads.transactionStart(first, limit);
          },
        },
        parties: { get: () => undefined },
        chainInfo: CHAIN,
      }),
    metadataWaitMs: 0,
    maxReorg: 128,
  });
  const bob = address('bob').slice(2);
  const plan = planner.plan(
    {
      id: 1,
      confirmations: 0,
      finality: 0,
      format: 'json',
      firstBlock: 1,
      cursor: { number: 0, hash: null, position: null, trail: null, mark: '' },
    },
    { attempted: () => [], list: () => [], isWithdrawing: () => false },
    () => ({
      filter: signalFilter({ wallets: new Set([bob]) }),
      wallets: new WatchSet(new Set([bob])),
      contracts: null,
    }),
    100,
  );
  assert.ok(plan.kind === 'events');
  assert.equal(plan.events.length, 20);
  assert.deepEqual(alone, []);
});
