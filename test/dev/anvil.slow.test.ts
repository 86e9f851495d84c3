import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { anvilPath } from '../../src/dev/anvil-path.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { SOURCE_FLAGS } from '../support/daemon/command.ts';
import { waitFor } from '../support/wait.ts';

const PAYER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const PAYEE = '0x00000000000000000000000000000000000000aa';

async function height(anvil: Anvil): Promise<number> {
  return Number(await anvil.call('eth_blockNumber'));
}

function pay(anvil: Anvil): Promise<unknown> {
  return anvil.call('eth_sendTransaction', [{ from: PAYER, to: PAYEE, value: '0x1' }]);
}

async function answers(url: string): Promise<boolean> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body }).then(
    (response) => response.ok,
    () => false,
  );
}

test('several chains start at the same time, each on a port of its own, and stop', async () => {
  const chains = await Promise.all([1001, 1002, 1003].map((chainId) => startAnvil({ chainId })));
  const ids = await Promise.all(chains.map((chain) => chain.call('eth_chainId')));
  assert.deepEqual(ids.map(Number), [1001, 1002, 1003]);
  await Promise.all(chains.map((chain) => chain.stop()));
  for (const chain of chains) assert.equal(await answers(chain.url), false);
});

test('without options a transaction is mined at once', async (t) => {
  const anvil = await startAnvil();
  t.after(() => anvil.stop());
  await pay(anvil);
  await waitFor(async () => (await height(anvil)) === 1, { what: 'block 1' });
});

test('a manual chain mines on request only', async (t) => {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  await pay(anvil);
  assert.equal(await height(anvil), 0);
  await anvil.call('evm_mine');
  assert.equal(await height(anvil), 1);
});

test('a chain with a block time grows by itself', async (t) => {
  const anvil = await startAnvil({ blockTimeMs: 50 });
  t.after(() => anvil.stop());
  await waitFor(async () => (await height(anvil)) >= 3, { what: 'three blocks' });
});

test('an error of the node is thrown with its message', async (t) => {
  const anvil = await startAnvil();
  t.after(() => anvil.stop());
  await assert.rejects(anvil.call('eth_nonsense'), /eth_nonsense/);
});

test('an option anvil refuses is a fatal error in its own words', async () => {
  await assert.rejects(startAnvil({ chainId: Number.NaN }), (error) => {
    assert.ok(error instanceof FatalError);
    assert.match(error.message, /did not start: .*NaN/s);
    return true;
  });
});

/** Starts another program that starts a chain, prints its address and then runs `after`. */
function runOwner(after: string) {
  const module = new URL('../../src/dev/anvil.ts', import.meta.url).href;
  const script = `
    const { startAnvil } = await import(${JSON.stringify(module)});
    const anvil = await startAnvil({ blockTimeMs: 100 });
    console.log(anvil.url);
    ${after}`;
  const owner = spawn(process.execPath, [...SOURCE_FLAGS, '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = once(createInterface({ input: owner.stdout }), 'line').then(([line]) => String(line));
  return { owner, url };
}

test('the chain ends when its owner is killed', async () => {
  const { owner, url } = runOwner('setInterval(() => {}, 1000);');
  assert.equal(await answers(await url), true);
  owner.kill('SIGKILL');
  await waitFor(async () => !(await answers(await url)), { what: 'the end of the chain' });
});

test('a running chain does not keep its parent process alive', async () => {
  const { owner, url } = runOwner('');
  const [code] = await once(owner, 'exit');
  assert.equal(code, 0);
  await waitFor(async () => !(await answers(await url)), { what: 'the end of the chain' });
});

test('a platform without an anvil package is a fatal error with advice', () => {
  assert.throws(() => anvilPath('sunos', 'sparc'), {
    name: 'FatalError',
    message: /@foundry-rs\/anvil-sunos-sparc.*npm run setup/,
  });
});
