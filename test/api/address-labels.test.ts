/** Labels of addresses in answers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type LabelRow, openLabelsFile } from '../../src/labels/labels-file.ts';
import type { LabelCategory } from '../../src/model/label.ts';
import { type Serving, serve } from '../server/serving.ts';
import { address, createIndex } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const MON = 10n ** 18n;
const ALICE = address('alice');

function label(who: string, name: string, category: LabelCategory): LabelRow {
  return { address: address(who), name, category, source: 'test' };
}

const EXCHANGE = { name: 'Big Exchange', category: 'exchange', source: 'test' };
const FRIEND = { name: 'A friend', category: 'person', source: 'test' };

async function serveLabelled(t: TestContext): Promise<Serving & { file: ReturnType<typeof openLabelsFile> }> {
  const labelsPath = join(tempDir(t), 'labels.db');
  const file = openLabelsFile(labelsPath);
  t.after(() => file.close());
  const index = createIndex(t);
  index.append([
    { fund: [{ from: 'exchange', to: 'alice', amount: 500n * MON }] },
    { pay: [{ from: 'alice', to: 'friend', amount: 200n * MON }] },
    { coin: [{ kind: 'erc20', from: 'zero', to: 'alice', token: 'coin', amount: 5n }] },
  ]);
  return Object.assign(await serve(t, { index, labelsPath }), { file });
}

async function importLabels(serving: Awaited<ReturnType<typeof serveLabelled>>): Promise<void> {
  serving.file.import([
    label('exchange', 'Big Exchange', 'exchange'),
    label('friend', 'A friend', 'person'),
    label('coin', 'The coin', 'contract'),
  ]);
  await waitFor(
    async () => 'fromLabel' in (await first(serving, `whale_transfers?limit=1&cursor=2`, 'transfers')),
    {
      what: 'the labels to appear',
    },
  );
}

async function first({ json }: Serving, path: string, list: string): Promise<Record<string, unknown>> {
  const { [list]: records } = await json(`/api/${path}`);
  assert.ok(Array.isArray(records));
  return records[0];
}

test('adds labels to addresses at the top of answers, in lists, in nested records and in the batch', async (t) => {
  const serving = await serveLabelled(t);
  const { json } = serving;
  const before = await json(`/api/wallet_summary?address=${ALICE}`);
  assert.ok(!('firstFundingSourceLabel' in before));
  await importLabels(serving);
  const { firstFundingSourceLabel, addressLabel } = await json(`/api/wallet_summary?address=${ALICE}`);
  assert.deepEqual([firstFundingSourceLabel, addressLabel], [EXCHANGE, undefined]);
  const { addressLabel: own } = await json(`/api/wallet_summary?address=${address('friend')}`);
  assert.deepEqual(own, FRIEND);
  const { fromLabel, firstFunding } = await json(`/api/wallet_funding_source?address=${ALICE}`);
  assert.deepEqual([fromLabel, firstFunding], [EXCHANGE, { ...Object(firstFunding), fromLabel: EXCHANGE }]);
  const hop = await first(serving, `funding_chain?address=${address('friend')}`, 'chain');
  assert.deepEqual([hop.fundedLabel, hop.funderLabel], [FRIEND, undefined]);
  const held = await first(serving, `wallet_tokens?address=${ALICE}`, 'tokens');
  assert.deepEqual(held.tokenAddressLabel, { name: 'The coin', category: 'contract', source: 'test' });
  const response = await serving.post('/api/wallets/batch', JSON.stringify({ addresses: [ALICE] }));
  const { wallets } = JSON.parse(await response.text());
  assert.deepEqual(wallets[ALICE].firstFunderLabel, EXCHANGE);
});

test('a funder that a label calls an exchange is a hub', async (t) => {
  const serving = await serveLabelled(t);
  const path = `/api/coordinated_wallets?address=${ALICE}`;
  assert.equal((await serving.json(path)).hub, false);
  await importLabels(serving);
  const { hub, funderLabel } = await serving.json(path);
  assert.deepEqual([hub, funderLabel], [true, EXCHANGE]);
  assert.equal((await serving.json(`/api/coordinated_wallets?address=${address('friend')}`)).hub, false);
});

test('search finds labels by the beginning of their names', async (t) => {
  const serving = await serveLabelled(t);
  await importLabels(serving);
  assert.deepEqual(await first(serving, 'search?q=big', 'results'), {
    kind: 'label',
    value: address('exchange'),
    name: 'Big Exchange',
    symbol: null,
    detail: 'exchange, from test',
  });
  const wallet = await first(serving, `search?q=${address('friend')}`, 'results');
  assert.deepEqual([wallet.kind, wallet.name], ['wallet', 'A friend']);
});

test('an ETag from before a label was imported no longer matches', async (t) => {
  const serving = await serveLabelled(t);
  const path = `/api/wallet_summary?address=${ALICE}`;
  const etag = (await serving.fetch(path)).headers.get('etag') ?? '';
  const again = () => serving.fetch(path, { headers: { 'If-None-Match': etag } });
  assert.equal((await again()).status, 304);
  await importLabels(serving);
  assert.equal((await again()).status, 200);
});
