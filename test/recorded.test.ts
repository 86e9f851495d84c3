/**
 * Real recorded blocks, compared with results that others computed from the chain's state or with their own decoders.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AskApi, askApi } from './support/clients/ask-api.ts';
import { startTestDaemon } from './support/daemon/daemon.ts';
import { buildIndex } from './support/index/build-index.ts';
import { type IndexedTransfer, indexedBalances, indexedTransfers } from './support/index/index-rows.ts';
import { readExpected, readSummary, recordedDataOrSkip } from './support/nodes/recorded.ts';
import { startRecordedNode } from './support/nodes/replay.ts';
import { tempDir } from './support/temp-dir.ts';

const KIND_OF = {
  native: 'native_direct',
  internal: 'native_internal',
  erc20: 'erc20',
  erc721: 'erc721',
  erc1155: 'erc1155',
};
/** Contracts whose balances also change by non-token events. The index knows Deposit and Withdrawal. */
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';

interface Cleanup {
  skip(reason: string): void;
  after(close: () => void | Promise<void>): void;
}

interface Range {
  dataset: string;
  start: number;
  head: number;
}

/** Indexes a dataset in this thread. */
async function indexed(t: Cleanup, folder: string, { dataset, start, head }: Range) {
  const node = await startRecordedNode(t, folder, dataset);
  const dataDir = tempDir(t);
  const path = await buildIndex({ url: node.url, dir: dataDir, startBlock: start, head });
  return { dataDir, ask: askApi(t, path), transfers: indexedTransfers(dataDir) };
}

/** Net native change per account of each transaction. Omits unchanged accounts. */
function nativeNet(transfers: readonly IndexedTransfer[]): Map<string, Record<string, string>> {
  const sums = new Map<string, Map<string, bigint>>();
  for (const { hash, kind, from, to, amount } of transfers) {
    if (!kind.startsWith('native')) continue;
    const net = sums.get(hash) ?? new Map<string, bigint>();
    sums.set(hash, net);
    net.set(from, (net.get(from) ?? 0n) - amount);
    net.set(to, (net.get(to) ?? 0n) + amount);
  }
  const entries = [...sums].map(([hash, net]): [string, Record<string, string>] => [
    hash,
    Object.fromEntries(
      [...net].filter(([, sum]) => sum !== 0n).map(([address, sum]) => [address, sum.toString()]),
    ),
  ]);
  return new Map(entries);
}

const RANGES: Range[] = [
  { dataset: 'eth-15000001-15000018', start: 15_000_001, head: 15_000_018 },
  { dataset: 'eth-17686110-17686121', start: 17_686_110, head: 17_686_121 },
  { dataset: 'eth-17686164', start: 17_686_164, head: 17_686_164 },
];

for (const range of RANGES) {
  const { dataset, start, head } = range;
  describe(`recorded Ethereum blocks ${start} to ${head}`, () => {
    it('equal the state changes, the decoded transfers and the summary', async (t) => {
      const folder = recordedDataOrSkip(t);
      if (folder === null) return;
      const { dataDir, ask, transfers } = await indexed(t, folder, range);

      const net = nativeNet(transfers);
      const expectedNet = readExpected(folder, dataset, 'native-net');
      assert.ok(expectedNet.length > 0);
      for (const { txHash, netTransfers } of expectedNet) {
        assert.deepEqual(net.get(txHash) ?? {}, netTransfers, `net native change of ${txHash}`);
      }

      let holders = 0;
      for (const token of readExpected(folder, dataset, 'erc20-storage')) {
        if (!token.allMatch && token.token !== WETH) continue;
        const balances = indexedBalances(dataDir, token.token);
        for (const { holder, storageDelta } of token.holders) {
          assert.equal(String(balances.get(holder) ?? 0n), storageDelta, `${token.token} of ${holder}`);
          holders++;
        }
      }
      assert.ok(holders > 100, `${holders} holders were compared`);

      const rows = transfers
        .filter(({ token }) => token !== WETH)
        .map(rowText)
        .sort();
      const expectedRows = readExpected(folder, dataset, 'transfers')
        .filter(({ kind, token }) => kind in KIND_OF && token !== WETH)
        .map((row) =>
          rowText({
            ...row,
            kind: KIND_OF[row.kind as keyof typeof KIND_OF],
            amount: row.kind === 'erc721' ? '1' : row.amount,
          }),
        );
      assert.deepEqual(rows, expectedRows.sort());

      await compareWallets(ask, readSummary(folder, dataset));
    });
  });
}

interface RowText {
  block: number;
  hash: string;
  kind: string;
  from: string;
  to: string;
  token?: string | null;
  amount: bigint | string;
  tokenId?: bigint | string | null;
  logIndex?: number | null;
}

function rowText({ block, hash, kind, from, to, token, amount, tokenId, logIndex }: RowText): string {
  return [block, hash, kind, from, to, token ?? '', amount, tokenId ?? '', logIndex ?? ''].join(' ');
}

/**
 * Checks the summary's wallets through the API. A range that starts in mid-chain has no wrapped-coin or fee effects on
 * these.
 */
async function compareWallets(ask: AskApi, summary: ReturnType<typeof readSummary>) {
  assert.ok(summary.wallets.length > 0);
  for (const wallet of summary.wallets) {
    const params = { address: wallet.address };
    const { nativeReceivedWei, nativeSentWei } = await ask('wallet_summary', params);
    assert.equal(nativeReceivedWei, wallet.nativeInWei, wallet.address);
    assert.equal(nativeSentWei, wallet.nativeOutWei, wallet.address);
    const { firstFunding } = await ask('wallet_funding_source', params);
    const expected = wallet.firstDirectFunding ?? wallet.firstInternalFunding;
    const { from, amountWei, txHash, blockNumber, source } = Object(firstFunding);
    if (expected?.funder === wallet.address) {
      // The collection's decoder lets a wallet fund itself; here a self-transfer funds nobody.
      assert.notEqual(from, wallet.address);
      continue;
    }
    assert.deepEqual(
      firstFunding && { funder: from, amountWei, txHash, block: blockNumber },
      expected,
      `first funding of ${wallet.address}`,
    );
    if (firstFunding) assert.equal(source, wallet.firstDirectFunding ? 'direct' : 'internal');
  }
}

const SPARSE = [
  'eth-sparse-traced',
  'polygon-sparse-traced',
  'optimism-sparse-traced',
  'basegoerli-sparse-traced',
  'cronos-sparse-notrace',
];
for (const dataset of SPARSE) {
  it(`recorded blocks of ${dataset} give the transfers of the independent decoder`, async (t) => {
    const folder = recordedDataOrSkip(t);
    if (folder === null) return;
    const summary = readSummary(folder, `${dataset}.rechained`);
    const range = { dataset: `${dataset}.rechained`, start: 1, head: summary.blocks };
    const index = await indexed(t, folder, range);
    const counts: Record<string, number> = {};
    for (const { kind } of index.transfers) counts[kind] = (counts[kind] ?? 0) + 1;
    const expectedRows = readExpected(folder, dataset, 'transfers');
    const decoded = new Set(expectedRows.map(({ hash, logIndex }) => `${hash} ${logIndex}`));
    // Nor Transfers without indexed arguments, which it lists as irregular.
    const unindexed = expectedRows.filter(({ topics, dataBytes }) => topics === 1 && dataBytes === 96).length;
    // The collection's decoder knows no wrapped coins.
    const wrapped = index.transfers.filter(
      ({ kind, hash, logIndex }) => kind === 'erc20' && !decoded.has(`${hash} ${logIndex}`),
    ).length;
    for (const [kind, name] of Object.entries(KIND_OF)) {
      const more = { erc20: wrapped, erc721: unindexed }[kind] ?? 0;
      const expected = summary.transferRows[kind as keyof typeof KIND_OF] + more;
      assert.equal(counts[name] ?? 0, expected, name);
    }
  });
}

it('the Monad devnet recording indexes without a skipped block, by finalized head', async (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  const node = await startRecordedNode(t, folder, 'monad-devnet-1-400-notrace');
  const daemon = await startTestDaemon(t, { flags: { '--node-http': node.url, '--start-block': '1' } });
  await daemon.reaches(400);
  const transfers = indexedTransfers(daemon.dataDir);
  assert.equal(transfers.length, 48);
  assert.ok(transfers.every(({ kind, amount }) => kind === 'native_direct' && amount === 1000n * 10n ** 18n));
  const status = daemon.daemon.status();
  assert.equal(status.startBlock, 1);
  assert.equal(status.capabilities?.traces, null);
  const [first] = transfers;
  const summary = await daemon.get<{ firstFundingSource: string }>('wallet_summary', {
    address: first?.to ?? '',
  });
  assert.equal(summary.firstFundingSource, first?.from);
});
