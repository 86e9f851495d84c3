/** Other tests rely on the demo traffic, so this test compares it with the node's own view of the chain. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Address, createPublicClient, http } from 'viem';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import type { DemoContracts } from '../../src/dev/contracts.ts';
import { DEPLOYED_BADGES, deployDemo } from '../../src/dev/deploy.ts';
import { sampleAddresses } from '../../src/dev/sample-addresses.ts';
import { generateTraffic, roundContext } from '../../src/dev/traffic.ts';
import { waitFor } from '../support/wait.ts';
import { type Frame, observe, traceBlock } from './observed.ts';

const SEED = 7;

async function demoChain(t: TestContext): Promise<{ anvil: Anvil; contracts: DemoContracts }> {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  return { anvil, contracts: await deployDemo(anvil.url, { mine: true }) };
}

function nativeBalance(anvil: Anvil, address: Address): Promise<bigint> {
  return createPublicClient({ transport: http(anvil.url) }).getBalance({ address });
}

async function allFrames(anvil: Anvil): Promise<Frame[]> {
  const head = BigInt(String(await anvil.call('eth_blockNumber')));
  const frames: Frame[] = [];
  for (let number = 1n; number <= head; number++) frames.push(...(await traceBlock(anvil, number)));
  return frames;
}

test('a round puts the reported transfers on the chain, and some of every kind', async (t) => {
  const { anvil, contracts } = await demoChain(t);
  const deployed = await observe(anvil, contracts.wrapped);
  assert.equal(deployed.yields.erc721, DEPLOYED_BADGES);

  const { rounds, ...report } = await generateTraffic(anvil.url, contracts, {
    rounds: 1,
    seed: SEED,
    mine: true,
  });
  const observed = await observe(anvil, contracts.wrapped);
  observed.transactions -= deployed.transactions;
  observed.yields.erc721 -= DEPLOYED_BADGES;
  assert.equal(rounds, 1);
  assert.deepEqual(report, observed);
  for (const [kind, count] of Object.entries(report.yields)) assert.ok(count > 0, `no ${kind}`);
  assert.ok(report.reverted > 0);
});

test('a round contains every pitfall of trace decoding', async (t) => {
  const { anvil, contracts } = await demoChain(t);
  await generateTraffic(anvil.url, contracts, { rounds: 1, seed: SEED, mine: true });
  const frames = await allFrames(anvil);
  const below = frames.filter(
    ({ traceAddress, action }) => traceAddress.length > 0 && action.value !== '0x0',
  );
  const has = (what: string, found: boolean) => assert.ok(found, `no ${what}`);

  for (const callType of ['delegatecall', 'callcode']) {
    has(
      `${callType} that names a value`,
      below.some((frame) => frame.action.callType === callType),
    );
  }
  has(
    'creation that failed with value',
    below.some(({ type, error }) => type === 'create' && error),
  );
  has(
    'failed call',
    frames.some(({ traceAddress, error }) => traceAddress.length === 1 && error),
  );
  const ends = frames.filter(({ type }) => type === 'suicide').map(({ action }) => action);
  has(
    'self-destruction that pays another',
    ends.some((end) => end.address !== end.refundAddress),
  );
  has(
    'self-destruction that names itself',
    ends.some((end) => end.address === end.refundAddress),
  );

  const { fresh } = roundContext(contracts, SEED, 0);
  for (const name of ['undone', 'never paid', 'looked at']) {
    assert.equal(await nativeBalance(anvil, fresh(name).address), 0n, `${name} was paid after all`);
  }
  for (const name of ['relayed', 'paid', 'heir']) {
    assert.ok((await nativeBalance(anvil, fresh(name).address)) > 0n, `${name} was not paid`);
  }
});

test('every sample address has its documented property', async (t) => {
  const { anvil, contracts } = await demoChain(t);
  await generateTraffic(anvil.url, contracts, { rounds: 1, seed: SEED, mine: true });
  const samples = sampleAddresses(contracts, SEED);
  const wallets = [samples.hotWallet, samples.trader, samples.whale, samples.collector, samples.payee];
  for (const address of [...wallets, ...samples.chain, ...samples.cohort]) {
    assert.match(address, /^0x[0-9a-f]{40}$/);
    assert.ok((await nativeBalance(anvil, address)) > 0n, `${address} holds nothing`);
  }
});

test('the same seed makes the same transactions, another seed others', async (t) => {
  const hashes = async (seed: number) => {
    const { anvil, contracts } = await demoChain(t);
    await generateTraffic(anvil.url, contracts, { rounds: 1, seed, mine: true });
    return new Set((await allFrames(anvil)).map(({ transactionHash }) => transactionHash));
  };
  const [first, again, other] = await Promise.all([hashes(SEED), hashes(SEED), hashes(SEED + 1)]);
  assert.deepEqual(first, again);
  assert.notDeepEqual(first, other);
});

test('traffic on a chain that mines by itself continues until it is stopped', async (t) => {
  const anvil = await startAnvil({ blockTimeMs: 50 });
  t.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url);
  const end = new AbortController();
  const traffic = generateTraffic(anvil.url, contracts, { seed: SEED, roundPauseMs: 20, signal: end.signal });
  const { fresh } = roundContext(contracts, SEED, 1);
  const secondRound = async () => (await nativeBalance(anvil, fresh('payee').address)) > 0n;
  await waitFor(secondRound, { what: 'the second round' });
  end.abort();
  const report = await traffic;
  assert.ok(report.rounds >= 1 && report.transactions > 0);
});

test('a transaction with an unplanned outcome is an error', async (t) => {
  const { anvil, contracts } = await demoChain(t);
  const wrong = { ...contracts, sender: contracts.nft };
  await assert.rejects(
    generateTraffic(anvil.url, wrong, { rounds: 1, seed: SEED, mine: true }),
    /demo transaction 0x[0-9a-f]{64} of 0x\w{40} was reverted/,
  );
});
