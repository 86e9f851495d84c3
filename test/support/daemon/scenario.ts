/** A user's first steps, run by the program in any of its forms: issue a key, start, query, revoke, stop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Anvil } from '../../../src/dev/anvil.ts';
import type { SampleAddresses } from '../../../src/dev/sample-addresses.ts';
import { waitFor } from '../wait.ts';
import { readyUrl, run, start } from './command.ts';

export interface Program {
  /** The command to which arguments are appended. */
  command: string[];
  /** The working directory, which will contain its data. */
  cwd: string;
}

/** A chain that only the scenario mines, with traffic of `samples` up to block `height`. */
export interface Chain {
  anvil: Anvil;
  samples: SampleAddresses;
  height: number;
}

type Cleanup = { after(fn: () => Promise<void>): void };

interface Check {
  path: string;
  /** Body of a POST. */
  body?: unknown;
  /** Without the key. */
  anonymous?: boolean;
  cookie?: string;
  status: number;
  /** What the body must contain. */
  contains: RegExp;
}

const ADMIN_TOKEN = 'operator-token-of-a-test';

/** Every kind of answer of the program. */
function checks({ samples, height }: Chain): Check[] {
  const head = `0x${height.toString(16)}`;
  return [
    { path: '/healthz', anonymous: true, status: 200, contains: /"ok"/ },
    { path: '/readyz', anonymous: true, status: 200, contains: /"ready":true/ },
    { path: '/status', anonymous: true, status: 200, contains: /"phase":"following"/ },
    { path: '/healthz', anonymous: true, cookie: `a=${'x'.repeat(12_000)}`, status: 200, contains: /"ok"/ },
    { path: '/', anonymous: true, status: 200, contains: /<!doctype html>/i },
    { path: '/admin', anonymous: true, status: 200, contains: /<!doctype html>/i },
    { path: '/nothing', anonymous: true, status: 404, contains: /not_found/ },
    {
      path: `/api/wallet_summary?address=${samples.trader}`,
      anonymous: true,
      status: 401,
      contains: /X-API-Key/,
    },
    {
      path: `/api/wallet_summary?address=${samples.trader}`,
      status: 200,
      contains: new RegExp(`"address":"${samples.trader}".*"txCount":[1-9]`),
    },
    {
      path: `/api/address_transfers?address=${samples.hotWallet}&limit=3`,
      status: 200,
      contains: /"nextCursor":\d+/,
    },
    { path: `/api/token_holders?token=${samples.token}`, status: 200, contains: /"holders":\[\{/ },
    {
      path: `/api/funding_chain?address=${samples.chain.at(-1)}&depth=10`,
      status: 200,
      contains: /"chain":\[\{/,
    },
    { path: '/api/whale_transfers?min_mon=10000', status: 200, contains: new RegExp(samples.whale) },
    { path: '/api/wallet_summary?address=0x1', status: 400, contains: /invalid_address/ },
    {
      path: '/api/wallets/batch',
      body: { addresses: [samples.whale, samples.trader] },
      status: 200,
      contains: new RegExp(`"${samples.whale}":\\{`),
    },
    {
      path: '/rpc',
      body: { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: [head, false] },
      status: 200,
      contains: new RegExp(`"number":"${head}"`),
    },
  ];
}

/** Runs all steps. Throws if anything is not as expected. */
export async function runScenario(owner: Cleanup, { command, cwd }: Program, chain: Chain): Promise<void> {
  const { anvil, height } = chain;
  const atlas = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(owner, [...command, ...args], { cwd });
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const { key, id } = JSON.parse(await atlas('keys', 'create', '--name', 'app', '--tier', 'pro', '--json'));
  const node = ['--node-http', anvil.url, '--node-ws', anvil.wsUrl];
  const daemon = start(owner, [...command, 'start', '--port', '0', ...node], {
    cwd,
    env: { ATLAS_ADMIN_TOKEN: ADMIN_TOKEN },
  });
  const url = await readyUrl(daemon);
  const ready = async () => (await fetch(`${url}/readyz`)).ok;
  await waitFor(ready, { what: `the index to reach block ${height}: ${daemon.stderr()}` });
  for (const check of checks(chain)) await hold(url, key, check);
  await holdStream(url, key, anvil);
  await holdPanel(url);
  assert.equal(JSON.parse(await atlas('status', '--json', '--url', url)).phase, 'following');

  await atlas('keys', 'revoke', String(id));
  const revoked = async () =>
    (await fetch(`${url}/api/wallet_summary`, { headers: { 'X-API-Key': key } })).status;
  await waitFor(async () => (await revoked()) === 401, { what: 'the revoked key to be refused' });
  daemon.child.kill('SIGTERM');
  const { code, stderr } = await daemon.ended;
  assert.equal(code, 0, stderr);
}

async function hold(url: string, key: string, check: Check): Promise<void> {
  const { path, body, anonymous, cookie, status, contains } = check;
  const response = await fetch(`${url}${path}`, {
    headers: {
      ...(!anonymous && { 'X-API-Key': key }),
      ...(cookie !== undefined && { Cookie: cookie }),
      ...(body !== undefined && JSON_TYPE),
    },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.equal(response.status, status, `${path}: ${text.slice(0, 300)}`);
  assert.match(text, contains, path);
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A block that is mined now is announced to a subscriber. */
async function holdStream(url: string, key: string, anvil: Anvil): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { 'X-API-Key': key } });
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  await once(socket, 'open');
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
  await waitFor(() => messages.length > 0, { what: 'the answer to eth_subscribe' });
  await anvil.call('evm_mine');
  const announced = () => messages.some((text) => text.includes('"eth_subscription"'));
  await waitFor(announced, { what: `a new head on /ws: ${messages}` });
  socket.close();
  await once(socket, 'close');
}

async function holdPanel(url: string): Promise<void> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  const keys = await fetch(`${url}/admin/api/keys`, { headers });
  assert.equal(keys.status, 200);
  assert.match(await keys.text(), /"name":"app"/);
  assert.equal((await fetch(`${url}/admin/api/keys`)).status, 401);
  const surveyed = async () =>
    (await (await fetch(`${url}/admin/api/index`, { headers })).text()).includes('"fileBytes":');
  await waitFor(surveyed, { what: 'the survey of the index' });
}
