/** Clients generated from /openapi.json by popular generators compile and get answers. */
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { build } from 'esbuild';
import { z } from 'zod';
import { serve, statusAt } from '../../server/serving.ts';
import { document } from '../../support/clients/openapi.ts';
import { PINNED_NODE, ROOT, start } from '../../support/daemon/command.ts';
import { codeBlock } from '../../support/docs.ts';
import { address, createIndex } from '../../support/index/index-fixture.ts';
import { tempDir } from '../../support/temp-dir.ts';

const MON = 10n ** 18n;

/** Uses each client like its users. A wrong type of a member or of an error code does not compile. */
const PROGRAM = `
import { type ErrorCode, type Funding, readyz, walletFundingSource, walletSummary } from './atlas/index';
import { createClient } from './atlas/client/index';
import { incoming } from './openapi-fetch';
import { Api, type Transfer, type WalletToken } from './swagger';

const urls: string[] = [];

function remember(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  urls.push(input instanceof Request ? input.url : String(input));
  return fetch(input, init);
}

export async function run(baseUrl: string, key: string, address: string) {
  const client = createClient({ baseUrl, auth: key, fetch: remember });
  const { data: summary } = await walletSummary({ client, query: { address } });
  const { data: funding } = await walletFundingSource({ client, query: { address } });
  const first: Funding | null | undefined = funding?.firstFunding;
  const { error } = await walletSummary({ client, query: { address: '0x12' } });
  const code: ErrorCode | undefined =
    error && typeof error.error.code === 'string' ? error.error.code : undefined;
  const { data: readiness } = await readyz({ client });

  const api = new Api<string>({
    baseUrl,
    customFetch: remember,
    securityWorker: (securityData) => ({ headers: { 'X-API-Key': securityData ?? '' } }),
  });
  api.setSecurityData(key);
  const transfers: Transfer[] = (await api.api.addressTransfers({ address, limit: 5 })).data.transfers;
  const tokens: WalletToken[] = (await api.api.walletTokens({ address })).data.tokens;
  return {
    received: summary?.nativeReceived,
    funder: first?.from,
    code,
    ready: readiness?.ready,
    amounts: transfers.map((transfer) => transfer.amount),
    balances: tokens.map((token) => token.balance),
    incoming: (await incoming(baseUrl, key, address)).map(({ from, amount }) => [from, String(amount)]),
    urls,
  };
}
`;

test('three generators make clients that compile strictly, get answers and keep the key out of URLs', async (t) => {
  const index = createIndex(t, 100);
  index.append([
    { a: [{ from: 'funder', to: 'alice', amount: MON }] },
    { b: [{ kind: 'erc20', token: 'coin', from: 'zero', to: 'alice', amount: 500n }] },
  ]);
  const { server, key, state } = await serve(t, { index });
  Object.assign(state, statusAt(102));
  const dir = tempDir(t);
  writeFileSync(join(dir, 'openapi.json'), JSON.stringify(document));
  writeFileSync(join(dir, 'program.ts'), PROGRAM);
  writeFileSync(join(dir, 'openapi-fetch.ts'), codeBlock('ts openapi-fetch'));
  writeFileSync(join(dir, 'wallet-transfers.ts'), codeBlock('ts wallet_transfers'));
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  await Promise.all([
    runTool(t, dir, [
      '--import',
      `${ROOT}test/support/clients/typescript-api.mjs`,
      `${ROOT}node_modules/@hey-api/openapi-ts/dist/run.mjs`,
      ...['-i', 'openapi.json', '-o', 'atlas'],
    ]),
    runTool(t, dir, [
      '--import',
      `${ROOT}test/support/clients/typescript-api.mjs`,
      `${ROOT}node_modules/openapi-typescript/bin/cli.js`,
      ...['openapi.json', '-o', 'schema.ts'],
    ]),
    runTool(t, dir, [
      `${ROOT}node_modules/swagger-typescript-api/dist/cli.mjs`,
      ...['generate', '-p', 'openapi.json', '-o', '.', '-n', 'swagger.ts'],
    ]),
  ]);
  await runTool(t, dir, [
    `${ROOT}node_modules/typescript/bin/tsc`,
    ...['--strict', '--noEmit', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'],
    ...['--lib', 'es2023,dom,dom.iterable', '--types', 'node', 'program.ts', 'wallet-transfers.ts'],
  ]);
  await build({
    entryPoints: [join(dir, 'program.ts')],
    outfile: join(dir, 'program.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  const { run } = z
    .object({
      run: z.function({ input: [z.string(), z.string(), z.string()], output: z.promise(z.unknown()) }),
    })
    .parse(await import(join(dir, 'program.mjs')));
  const answer = z
    .looseObject({ urls: z.array(z.string()) })
    .parse(await run(server.url, key, address('alice')));
  const { urls, ...facts } = answer;
  assert.deepEqual(facts, {
    received: '1',
    funder: address('funder'),
    code: 'invalid_address',
    ready: true,
    amounts: ['500', `${MON}`],
    balances: ['500'],
    incoming: [
      [`0x${'0'.repeat(40)}`, '500'],
      [address('funder'), `${MON}`],
    ],
  });
  assert.equal(urls.length, 6);
  for (const url of urls) assert.ok(!url.includes(key) && !url.includes('api_key'), url);
});

/** Runs a Node program in a folder. If it fails, throws its output. */
async function runTool(t: TestContext, cwd: string, args: string[]): Promise<void> {
  const { code, stdout, stderr } = await start(t, [PINNED_NODE, ...args], { cwd }).ended;
  assert.equal(code, 0, stdout + stderr);
}
