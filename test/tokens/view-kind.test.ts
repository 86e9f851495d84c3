/** Tokens whose logs have the form of another standard are shown as what they are. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pad } from 'viem';
import { startAnvil } from '../../src/dev/anvil.ts';
import { bigIntToBytes, type Hex, hexToBytes } from '../../src/lib/hex.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { prepareEventReader } from '../../src/query/events.ts';
import { prepareTokenHistoryIds } from '../../src/query/token-history.ts';
import { prepareTokenSymbols } from '../../src/query/tokens.ts';
import { amountOf, prepareTransfersById, tokenIdOf, typeOf } from '../../src/query/transfers.ts';
import { unitBudget } from '../../src/query/work-budget.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { decideViewKind, needsViewCalls } from '../../src/tokens/view-kind.ts';
import { receiptOf } from '../support/chain/receipt.ts';
import { compileFixture } from '../support/chain/solidity.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { address, createIndex } from '../support/index/index-fixture.ts';
import { waitFor } from '../support/wait.ts';

const { erc20, erc721, erc1155 } = TransferKind;
const yes = pad('0x1');
const no = pad('0x0');

test('a contract is asked what it is where its decimals do not fit its logs', () => {
  const asked = (kind: number) => [null, 0, 18].filter((decimals) => needsViewCalls({ kind, decimals }));
  assert.deepEqual(asked(erc20), [null, 0]);
  assert.deepEqual(asked(erc721), [18]);
  assert.deepEqual(asked(erc1155), []);
});

test('an NFT says so by its interface id, an ERC-20 by knowing nothing of NFTs', () => {
  const mixed = () => true;
  const plain = () => false;
  assert.equal(decideViewKind(erc20, [yes, no, undefined], plain), erc721);
  assert.equal(decideViewKind(erc20, [yes, undefined, undefined], plain), erc721);
  assert.equal(decideViewKind(erc20, [yes, yes, yes], plain), null, 'it says yes to everything');
  for (const answer of [undefined, no, '0x', '0x01', pad('0x2')])
    assert.equal(decideViewKind(erc20, [answer, undefined, undefined], plain), null, answer);

  assert.equal(decideViewKind(erc721, [undefined, undefined, undefined], plain), erc20);
  assert.equal(decideViewKind(erc721, ['0x', '0x', '0x'], plain), erc20);
  assert.equal(decideViewKind(erc721, [yes, no, undefined], plain), null);
  assert.equal(
    decideViewKind(erc721, [undefined, undefined, no], plain),
    null,
    'approvals are those of an NFT',
  );
  assert.equal(decideViewKind(erc721, [undefined, undefined, undefined], mixed), null, 'it logs units too');
});

test('only rows of the form are shown as the view kind, alike in answers and notifications', (t) => {
  const index = createIndex(t);
  const move = { from: 'zero', to: 'alice' };
  index.append([
    {
      all: [
        { ...move, kind: 'erc20', token: 'parcels', amount: 5_000n },
        { ...move, kind: 'erc20', token: 'parcels', amount: 0n },
        { ...move, kind: 'erc721', token: 'parcels', tokenId: 9n },
        { ...move, kind: 'erc721', token: 'units', tokenId: 4_000n },
        { ...move, kind: 'erc721', token: 'units', tokenId: 0n },
        { ...move, kind: 'erc1155', token: 'units', tokenId: 3n, amount: 2n },
        { ...move, kind: 'erc721', token: 'nft', tokenId: 8n },
        move,
      ],
    },
  ]);
  assert.equal(index.writer.logsUnits(address('parcels')), true);
  assert.equal(index.writer.logsUnits(address('units')), false);
  const read = { name: null, symbol: null, decimals: null, tries: 1, retryAt: null };
  index.writer.saveMetadata([
    { ...read, address: address('parcels'), viewKind: erc721 },
    { ...read, address: address('units'), viewKind: erc20 },
    { ...read, address: address('nft'), viewKind: null },
  ]);
  index.writer.saveMetadata([{ ...read, address: address('units') }]); // settles nothing
  const db = index.reader(t);
  const ids = [1, 2, 3, 4, 5, 6, 7, 8];
  for (const rows of [prepareTransfersById(db)(ids), prepareEventReader(db).byId(ids)])
    assert.deepEqual(
      rows.map((row) => [typeOf(row), `${amountOf(row)}`, tokenIdOf(row)]),
      [
        ['erc721', '1', '5000'],
        ['erc721', '1', '0'],
        ['erc721', '1', '9'],
        ['erc20', '4000', null],
        ['erc20', '0', null],
        ['erc1155', '2', '3'],
        ['erc721', '1', '8'],
        ['native_direct', '1', null],
      ],
    );

  const listIds = prepareTokenHistoryIds(db);
  const idsOf = (contract: string, number: bigint) => {
    const token = db
      .prepare<[Uint8Array], number>(
        'SELECT t.id FROM tokens t JOIN wallets w ON w.id = t.wallet WHERE address = ?',
      )
      .pluck()
      .get(hexToBytes(address(contract)));
    const { viewKind } = prepareTokenSymbols(db)(address(contract).slice(2));
    const filter = { from: 1, below: 9, limit: 9, tokenNumber: bigIntToBytes(number), viewKind };
    return listIds(token ?? 0, filter, unitBudget(20_000)).ids;
  };
  assert.deepEqual(
    (
      [
        ['parcels', 5_000n],
        ['parcels', 0n],
        ['parcels', 9n],
        ['units', 4_000n],
        ['units', 0n],
        ['units', 3n],
        ['nft', 8n],
        ['nft', 0n],
      ] as const
    ).map(([contract, number]) => idsOf(contract, number)),
    [[1], [2], [3], [], [], [6], [7], []],
  );
});

/** What the API shows of each contract of OddForms.sol: type, decimals, the amount and id of its mint. */
const SHOWN: Record<string, [type: string, decimals: number | null, amount: string, tokenId: string | null]> =
  {
    Units: ['erc20', null, '5000', null],
    Ids: ['erc721', null, '1', '5000'],
    Parcels: ['erc721', null, '1', '5000'],
    Yes: ['erc20', 0, '5000', null],
    IndexedUnits: ['erc20', 18, '5000', null],
    Fractions: ['erc721', null, '1', '5000'],
    Land: ['erc721', null, '1', '5000'],
  };

test('a token is shown as what its contract says, and its sums as unreliable', async (t) => {
  const anvil = await startAnvil();
  t.after(() => anvil.stop());
  const codes = await compileFixture('OddForms.sol');
  const [from] = (await anvil.call('eth_accounts')) as Hex[];
  const contracts = new Map<string, Hex>();
  for (const name of Object.keys(SHOWN)) {
    const hash = await anvil.call('eth_sendTransaction', [{ from, data: codes[name], gas: '0x2dc6c0' }]);
    const { contractAddress } = await receiptOf(anvil, hash);
    assert.ok(contractAddress);
    contracts.set(name, contractAddress);
  }
  const { get, dataDir } = await startTestDaemon(t, { flags: { '--node-http': anvil.url } });
  const db = await waitFor(() => openDatabase(join(dataDir, 'index.db'), { readonly: true }), {
    what: 'the index',
  });
  t.after(() => db.close());
  const asked = db.prepare<[], number>('SELECT count(*) FROM token_metadata').pluck();
  await waitFor(() => asked.get() === contracts.size, { what: 'all contracts to be asked' });

  const { transfers } = await get<{ transfers: Record<string, unknown>[] }>('address_transfers', {
    address: from!,
  });
  const { tokens } = await get<{ tokens: Record<string, unknown>[] }>('wallet_tokens', { address: from! });
  for (const [name, [type, decimals, amount, tokenId]] of Object.entries(SHOWN)) {
    const token = contracts.get(name)!;
    const stats = await get('token_stats', { token });
    assert.deepEqual([stats.type, stats.decimals], [type, decimals], name);
    const row = transfers.find(({ tokenAddress }) => tokenAddress === token);
    assert.deepEqual([row?.transferType, row?.amount, row?.tokenId], [type, amount, tokenId], name);
    const held = tokens.find(({ tokenAddress }) => tokenAddress === token);
    const holders = await get('token_holders', { token });
    const reason = { Parcels: /sums of ids/, IndexedUnits: /numbers of transfers/ }[name];
    if (reason === undefined) {
      assert.deepEqual(
        [stats.estimateReason, holders.estimateReason, held?.accuracyReason],
        [null, null, null],
      );
      continue;
    }
    assert.equal(held?.type, type);
    assert.deepEqual(
      [stats.estimateQuality, holders.estimateQuality, held?.accuracy],
      ['unreliable', 'unreliable', 'unreliable'],
    );
    for (const text of [stats.estimateReason, holders.estimateReason, held?.accuracyReason])
      assert.match(String(text), reason);
  }
});
