/** /api/transaction over a development node: every outcome, decoded. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { type Anvil, startAnvil } from '../../../src/dev/anvil.ts';
import { abis, type DemoContracts } from '../../../src/dev/contracts.ts';
import { deployDemo } from '../../../src/dev/deploy.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import { compileFixture } from '../../support/chain/solidity.ts';
import { checkAnswer } from '../../support/clients/openapi.ts';
import { startTestDaemon, type TestDaemon } from '../../support/daemon/daemon.ts';
import { suiteCleanup } from '../../support/nodes/replay.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait.ts';

type Row = Record<string, unknown>;

/** Accounts of the development node. */
const ALICE = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const BOB = '0x90f79bf6eb2c4f870365e785982e1f101e93b906';
const MON = 10n ** 18n;
const GAS = '0x100000';

const FAILURES = parseAbi([
  'function withMessage()',
  'function withoutReason()',
  'function withKnownError()',
  'function withOwnError(uint256 amount)',
  'function withOverflow(uint256 amount)',
  'function withIndex(uint256 at)',
  'function withoutGas()',
  'function manyLogs(uint256 count)',
  'function withText(string text)',
]);

const UNKNOWN_HASH = `0x${'12'.repeat(32)}`;

describe('/api/transaction', () => {
  const cleanup = suiteCleanup();
  let anvil: Anvil;
  let contracts: DemoContracts;
  let failures: Hex;
  let daemon: TestDaemon;

  const send = async (transaction: Row): Promise<string> =>
    String(await anvil.call('eth_sendTransaction', [{ from: ALICE, gas: GAS, ...transaction }]));
  /** Sends, mines and waits for the index. */
  const mined = async (transaction: Row): Promise<string> => {
    const hash = await send(transaction);
    await anvil.call('evm_mine');
    await daemon.reaches(Number(await anvil.call('eth_blockNumber')));
    return hash;
  };
  const answerOf = async (tx: string): Promise<Row> => {
    const answer = await daemon.get<Row>('transaction', { tx });
    checkAnswer('/api/transaction', answer);
    return answer;
  };
  const failing = async (functionName: (typeof FAILURES)[number]['name'], args: readonly unknown[] = []) => {
    const data = encodeFunctionData<readonly unknown[]>({ abi: FAILURES, functionName, args });
    const { status, failure } = await answerOf(await mined({ to: failures, data }));
    assert.equal(status, 'failed');
    return failure as Row;
  };

  before(async () => {
    anvil = await startAnvil({ manual: true });
    cleanup.after(() => anvil.stop());
    contracts = await deployDemo(anvil.url, { mine: true });
    const abiDir = tempDir(cleanup);
    const abi = [...FAILURES, ...parseAbi(['error Refused(address who, uint256 amount)']), ...abis.DemoPool];
    writeFileSync(join(abiDir, 'own.json'), JSON.stringify({ abi }));
    daemon = await startTestDaemon(cleanup, {
      flags: { '--node-http': anvil.url },
      env: { ATLAS_EXPLORER__ABI_DIR: abiDir },
    });
    const { Failures } = await compileFixture('Failures.sol');
    const created = await mined({ data: Failures });
    const { createdContract, to, method, status } = await answerOf(created);
    assert.deepEqual([to, method, status], [null, null, 'succeeded']);
    failures = `0x${String(createdContract).slice(2)}`;
  });

  it('tells a payment: parties, value, fee, block, time', async () => {
    const hash = await mined({ to: BOB, value: '0x14d1120d7b160000', gas: '0x5208' });
    const answer = await answerOf(hash);
    const receipt = (await anvil.call('eth_getTransactionReceipt', [hash])) as Record<string, string>;
    const block = (await anvil.call('eth_getBlockByHash', [receipt.blockHash, false])) as Record<
      string,
      string
    >;
    const fee = BigInt(receipt.gasUsed!) * BigInt(receipt.effectiveGasPrice!);
    const { feeWei, blockNumber, blockHash, timestamp, from, to, value, status, ...rest } = answer;
    assert.deepEqual(
      [feeWei, blockNumber, blockHash, timestamp, from, to, value, status],
      [
        fee.toString(),
        Number(receipt.blockNumber),
        receipt.blockHash,
        new Date(Number(block.timestamp) * 1000).toISOString(),
        ALICE,
        BOB,
        '1.5',
        'succeeded',
      ],
    );
    assert.deepEqual(
      [rest.method, rest.input, rest.events, rest.eventCount, rest.failure, rest.trades, rest.gasUsed],
      [null, '0x', [], 0, null, [], '21000'],
    );
  });

  it('tells a token transfer: method and event by name, with their arguments', async () => {
    const data = encodeFunctionData({ abi: abis.DemoToken, functionName: 'transfer', args: [BOB, 0n] });
    const { method, events, input, inputBytes } = await answerOf(await mined({ to: contracts.token, data }));
    const value = { name: 'value', type: 'uint256', value: '0' };
    assert.deepEqual(method, {
      selector: '0xa9059cbb',
      name: 'transfer',
      signature: 'transfer(address,uint256)',
      args: [{ name: 'to', type: 'address', value: BOB }, value],
    });
    assert.deepEqual([input, inputBytes], [data, 68]);
    const [{ name, address, args, topics, dataBytes }] = events as [Row];
    assert.deepEqual([name, address, dataBytes], ['Transfer', contracts.token, 32]);
    assert.deepEqual(args, [
      { name: 'from', type: 'address', value: ALICE },
      { name: 'to', type: 'address', value: BOB },
      value,
    ]);
    assert.equal((topics as string[]).length, 3);
  });

  it('tells the trades of all wallets as wallet_trades does, and who sent it', async () => {
    const price = BigInt(
      String(await anvil.call('eth_call', [{ to: contracts.pool, data: '0xa035b1fe' }, 'latest'])), // price()
    );
    await mintTo(contracts.pool, 10n * MON);
    const data = encodeFunctionData({ abi: abis.DemoPool, functionName: 'buy', args: [2n * MON, ALICE] });
    const hash = await mined({ to: contracts.pool, data, value: `0x${(2n * price).toString(16)}` });
    const { trades, tradesReason, method } = await answerOf(hash);
    assert.equal((method as Row).name, 'buy', 'by the ABI file of the operator');
    assert.equal(tradesReason, null);
    const byWallet = new Map((trades as Row[]).map((trade) => [trade.wallet, trade]));
    assert.deepEqual([...byWallet.keys()].sort(), [ALICE, contracts.pool].sort());
    for (const [wallet, { wallet: _, initiated, ...trade }] of byWallet) {
      const { trades: listed } = await daemon.get<{ trades: Row[] }>('wallet_trades', {
        address: String(wallet),
        limit: 1,
      });
      const { initiated: asked, ...expected } = listed[0]!;
      assert.deepEqual(trade, expected);
      assert.deepEqual([initiated, asked], [wallet === ALICE, null]);
    }
  });

  it('says why a transaction failed', async () => {
    const known = await failing('withKnownError');
    assert.deepEqual(
      [known.kind, known.reason, known.unknownReason],
      ['custom_error', `ERC20InsufficientBalance(sender: ${ALICE}, balance: 1, needed: 5)`, null],
    );
    assert.match(String(known.data), /^0xe450d38c/);
    for (const [functionName, args, kind, reason] of [
      ['withMessage', [], 'message', 'not on a Saturday'],
      ['withoutReason', [], 'no_reason', 'reverted without a reason'],
      ['withOwnError', [9n], 'custom_error', `Refused(who: ${ALICE}, amount: 9)`],
      ['withOverflow', [2n], 'panic', 'an arithmetic overflow or underflow (panic 0x11)'],
      ['withIndex', [0n], 'panic', 'an index outside of its array (panic 0x32)'],
      ['withoutGas', [], 'out_of_gas', 'out of gas'],
    ] as const) {
      const failure = await failing(functionName, args);
      assert.deepEqual([failure.kind, failure.reason, failure.unknownReason], [kind, reason, null]);
    }
  });

  it('says that the reason depends on an earlier transaction of its block', async () => {
    // The first of two takes all that is there; the second fails after it alone.
    await mintTo(ALICE, MON);
    const all = balanceOf(ALICE);
    const data = encodeFunctionData({
      abi: abis.DemoToken,
      functionName: 'transfer',
      args: [BOB, await all],
    });
    await send({ to: contracts.token, data });
    const { status, failure } = await answerOf(await mined({ to: contracts.token, data }));
    assert.equal(status, 'failed');
    const { reason, kind, unknownReason } = failure as Row;
    assert.deepEqual([reason, kind], [null, null]);
    assert.match(String(unknownReason), /an earlier transaction of its block/);
  });

  it('answers a pending transaction as pending, and an unknown one with 404', async () => {
    const hash = await send({ to: BOB, value: '0x1' });
    const answer = await answerOf(hash);
    assert.deepEqual(
      [answer.status, answer.blockNumber, answer.timestamp, answer.fee, answer.events, answer.trades],
      ['pending', null, null, null, null, null],
    );
    assert.equal(answer.tradesReason, 'it is not in a block yet');
    await anvil.call('evm_mine');
    await waitFor(async () => (await answerOf(hash)).status === 'succeeded', { what: 'it to be mined' });
    await assert.rejects(daemon.get('transaction', { tx: UNKNOWN_HASH }), /404.*does not know transaction/);
  });

  it('gives the first events and their number, and cuts long input', async () => {
    const logs = encodeFunctionData({ abi: FAILURES, functionName: 'manyLogs', args: [205n] });
    const many = await answerOf(await mined({ to: failures, data: logs }));
    assert.deepEqual([(many.events as Row[]).length, many.eventCount], [200, 205]);
    assert.deepEqual((many.events as Row[])[199]?.name, null);
    const text = 'x'.repeat(70_000);
    const long = encodeFunctionData({ abi: FAILURES, functionName: 'withText', args: [text] });
    const { method, input, inputBytes } = await answerOf(
      await mined({ to: failures, data: long, gas: '0x1c9c380' }),
    );
    assert.deepEqual([String(input).length, inputBytes], [2 + 2 * 64 * 1024, (long.length - 2) / 2]);
    const [arg] = (method as { args: Row[] }).args;
    assert.equal(arg?.value, `${'x'.repeat(4_096)}…`);
  });

  it('lists the calls of a multicall, with the labels and arguments of each', async () => {
    const abi = parseAbi([
      'function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)',
    ]);
    const transfer = { abi: abis.DemoToken, functionName: 'transfer', args: [BOB, 3n] } as const;
    const calls = [
      { target: contracts.token, allowFailure: true, value: 0n, callData: encodeFunctionData(transfer) },
      { target: BOB, allowFailure: false, value: MON, callData: '0x' },
    ] as const;
    const answer = await answerOf(await mined({ to: BOB, data: encodeFunctionData({ abi, args: [calls] }) }));
    assert.deepEqual(answer.calls, [
      {
        depth: 1,
        to: contracts.token,
        value: '0',
        valueWei: '0',
        method: {
          selector: '0xa9059cbb',
          name: 'transfer',
          signature: 'transfer(address,uint256)',
          args: [
            { name: 'to', type: 'address', value: BOB },
            { name: 'value', type: 'uint256', value: '3' },
          ],
        },
      },
      { depth: 1, to: BOB, value: '1', valueWei: MON.toString(), method: null },
    ]);
    assert.equal(answer.callsTruncated, false);
  });

  it('names methods of standards, and leaves others unnamed', async () => {
    const { methods } = await daemon.get<{ methods: Row[] }>('method_names', {
      selectors: '0xA9059CBB,0xffffffff,0xa9059cbb',
    });
    assert.deepEqual(methods, [
      { selector: '0xa9059cbb', name: 'transfer', signature: 'transfer(address,uint256)' },
      { selector: '0xffffffff', name: null, signature: null },
    ]);
  });

  it('names tokens and contracts, and addresses that were never seen', async () => {
    const addresses = `${contracts.token},${ALICE},0x${'9'.repeat(40)}`;
    await waitFor(
      async () => {
        const { names } = await daemon.get<{ names: Row[] }>('address_names', { addresses });
        return names[0]?.symbol === 'DEMO' && names[1]?.contract === false;
      },
      { what: 'the names to be found' },
    );
    const { names, count } = await daemon.get<{ names: Row[]; count: number }>('address_names', {
      addresses,
    });
    assert.equal(count, 3);
    const none = { type: null, name: null, symbol: null, decimals: null };
    assert.deepEqual(names, [
      {
        address: contracts.token,
        contract: true,
        type: 'erc20',
        name: 'Demo Token',
        symbol: 'DEMO',
        decimals: 18,
      },
      { address: ALICE, contract: false, ...none },
      { address: `0x${'9'.repeat(40)}`, contract: null, ...none },
    ]);
  });

  async function mintTo(to: Hex, units: bigint): Promise<void> {
    const data = encodeFunctionData({ abi: abis.DemoToken, functionName: 'mint', args: [to, units] });
    await mined({ to: contracts.token, data });
  }

  async function balanceOf(address: Hex): Promise<bigint> {
    const data = encodeFunctionData({
      abi: parseAbi(['function balanceOf(address owner)']),
      args: [address],
    });
    return BigInt(String(await anvil.call('eth_call', [{ to: contracts.token, data }, 'latest'])));
  }
});
