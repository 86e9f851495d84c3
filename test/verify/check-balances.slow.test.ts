import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Hex } from '../../src/lib/hex.ts';
import { toQuantity } from '../../src/lib/hex.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { type OddChain, type OddToken, startOddChain } from '../support/chain/odd-tokens.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { differencesOf, verifyFile } from '../support/index/verify.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { tempDir } from '../support/temp-dir.ts';

type Tokens = Record<Exclude<OddToken, 'Spoof'>, Hex>;

const NAMES = ['PlainToken', 'FeeToken', 'RebasingToken', 'SilentToken'] as const;

async function deployTokens(chain: OddChain): Promise<Tokens> {
  const tokens: Partial<Tokens> = {};
  for (const name of NAMES) tokens[name] = await chain.deploy(name);
  const made = tokens as Tokens;
  for (const name of ['PlainToken', 'FeeToken', 'RebasingToken'] as const)
    await chain.mint(made[name], 0, 1_000_000);
  return made;
}

async function moveAll(chain: OddChain, tokens: Tokens): Promise<void> {
  for (const name of NAMES) {
    await chain.transfer(tokens[name], 0, 1, 1_000);
    await chain.transfer(tokens[name], 1, 2, 300);
  }
  await chain.rebase(tokens.RebasingToken);
}

/** Indexes the chain in its current state and verifies it. */
async function verifyFrom(t: TestContext, chain: OddChain, startBlock: number): Promise<VerifyReport> {
  const { url } = chain.anvil;
  const path = await buildIndex({ url, dir: tempDir(t), startBlock });
  const report = await verifyFile({ path, http: url });
  assert.deepEqual(differencesOf(report), []);
  return report;
}

/** The verdict on each token, by name. */
function said(report: VerifyReport, tokens: Record<string, Hex>): Record<string, string | null | undefined> {
  const of = (address: Hex) => report.tokens.find(({ token }) => token === address)?.quality;
  return Object.fromEntries(Object.entries(tokens).map(([name, address]) => [name, of(address)]));
}

test('classifies the tokens of a fully indexed chain by the answers of their contracts', async (t) => {
  const chain = await startOddChain(t);
  const tokens = await deployTokens(chain);
  const Spoof = await chain.deploy('Spoof');
  await chain.emitTransfer(Spoof, 3, 4, 50);
  await moveAll(chain, tokens);
  const report = await verifyFrom(t, chain, 0);
  assert.deepEqual(said(report, { ...tokens, Spoof }), {
    PlainToken: 'exact',
    FeeToken: 'unreliable',
    RebasingToken: 'unreliable',
    SilentToken: 'unreliable',
    Spoof: 'unreliable',
  });
  const reasonOf = (token: Hex) => report.tokens.find((verdict) => verdict.token === token)?.reason ?? '';
  assert.match(reasonOf(tokens.FeeToken), /moved without transfers .* first in block \d+$/);
  assert.match(reasonOf(Spoof), /does not answer balanceOf/);
  const compared = report.checks.find(({ name }) => name === 'native')?.compared ?? '';
  assert.match(compared, /^balance changes of [1-9]\d* wallets from block \d+ to \d+$/);
});

test('of tokens older than the index those that move silently are unreliable, the others partial', async (t) => {
  const chain = await startOddChain(t);
  const tokens = await deployTokens(chain);
  const start = (await chain.head()) + 1;
  await moveAll(chain, tokens);
  const young = await chain.deploy('PlainToken');
  await chain.mint(young, 5, 70);
  const report = await verifyFrom(t, chain, start);
  assert.deepEqual(said(report, { ...tokens, young }), {
    PlainToken: 'partial',
    FeeToken: 'unreliable',
    RebasingToken: 'unreliable',
    SilentToken: 'partial',
    young: 'exact',
  });
});

test('if the node has pruned the state at the start, the newest blocks decide', async (t) => {
  const chain = await startOddChain(t, { stateBlocks: 90 });
  const tokens = await deployTokens(chain);
  const start = (await chain.head()) + 1;
  await chain.mine(150);
  await moveAll(chain, tokens);
  const report = await verifyFrom(t, chain, start);
  assert.deepEqual(said(report, tokens), {
    PlainToken: 'partial',
    FeeToken: 'unreliable',
    RebasingToken: 'unreliable',
    SilentToken: 'partial',
  });
  const reason = report.tokens.find(({ token }) => token === tokens.PlainToken)?.reason ?? '';
  assert.match(
    reason,
    new RegExp(`as it was at block ${(await chain.head()) - 64}: history before block ${start}`),
  );
});

test('a busy node leaves a token undecided', async (t) => {
  const chain = await startOddChain(t);
  const token = await chain.deploy('PlainToken');
  await chain.mint(token, 0, 1_000);
  const start = (await chain.head()) + 1;
  await chain.transfer(token, 0, 1, 400);
  const path = await buildIndex({ url: chain.anvil.url, dir: tempDir(t), startBlock: start });
  const node = await startMisbehavingNode({ upstream: chain.anvil.url });
  t.after(() => node.close());
  const before = `0x${(start - 1).toString(16)}`;
  node.misbehave({
    when: ({ method, params }) => method === 'eth_getBalance' && params[1] === before,
    errorFor: { eth_getBalance: { code: -32005, message: 'rate limit exceeded' } },
  });
  const { tokens, checks } = await verifyFile({ path, http: node.url });
  assert.deepEqual(tokens, []);
  const notes = checks.find(({ name }) => name === 'balances')?.notes;
  assert.deepEqual(notes, ['1 tokens could not be examined']);
});

test('repeats a call that the node answered while it executed the next block', async (t) => {
  const chain = await startOddChain(t);
  const token = await chain.deploy('PlainToken');
  await chain.mint(token, 0, 1_000);
  await chain.transfer(token, 0, 1, 400);
  const head = await chain.head();
  const path = await buildIndex({ url: chain.anvil.url, dir: tempDir(t) });
  const node = await startMisbehavingNode({ upstream: chain.anvil.url });
  t.after(() => node.close());
  const asked = new Set<string>();
  node.misbehave({
    replace: (method, params, result) => {
      const call = JSON.stringify([method, params]);
      const isState = method === 'eth_getBalance' || method === 'eth_call';
      if (!isState || params[1] !== toQuantity(head) || asked.has(call)) return result;
      asked.add(call);
      return `0x${(BigInt(String(result)) + 5n).toString(16).padStart(64, '0')}`;
    },
  });
  const report = await verifyFile({ path, http: node.url });
  assert.ok(asked.size > 4, `only ${asked.size} answers were wrong`);
  assert.deepEqual(differencesOf(report), []);
  assert.deepEqual(said(report, { token }), { token: 'exact' });
});
