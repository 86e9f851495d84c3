/** The README and docs/: their commands run as a reader would run them. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { startAnvil } from '../src/dev/anvil.ts';
import { codeBlock, codeBlocks, ROOT } from './support/docs.ts';
import { freePort } from './support/free-port.ts';
import { tempDir } from './support/temp-dir.ts';
import { waitFor } from './support/wait.ts';

/** Stands for `0x...`. */
const ADDRESS = '0xf39fd6e51aad88f6f4ce6ab8827279cff8b92266';

/** All `sh` blocks. `bash` blocks change the system or take long, so no test runs them. */
const SHELL_BLOCKS = codeBlocks('sh');
const commandsRun = new Set<string>();

/** The shell block that contains a text. Marks all of its lines as run. */
function blockWith(text: string): string {
  const block = SHELL_BLOCKS.find((one) => one.includes(text));
  assert.ok(block, `no shell block of the docs has ${text}`);
  for (const line of linesOf(block)) commandsRun.add(line);
  return block;
}

/** The line of a shell block that contains a text. Marks it as run. */
function lineWith(text: string): string {
  const line = SHELL_BLOCKS.flatMap(linesOf).find((one) => one.includes(text));
  assert.ok(line, `no command of the docs has ${text}`);
  commandsRun.add(line);
  return line;
}

function linesOf(block: string): string[] {
  return block.trim().split('\n');
}

interface ShellOptions {
  cwd: string;
  env: Record<string, string>;
}

/**
 * Runs a script in its own process group, which ends with the test. Signals go to all of it. The shell traps them,
 * since it would end before its program otherwise.
 */
function startShell(t: TestContext, script: string, options: ShellOptions) {
  const child: ChildProcess = spawn('/bin/sh', ['-ec', `trap : TERM INT\n${script}`], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exit = once(child, 'exit').then(([code]) => code);
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, name);
  };
  t.after(() => signal('SIGKILL'));
  return { output: () => output, exit, signal };
}

type Shell = ReturnType<typeof startShell>;

/** Waits for output of a running program. If the program ends first, rejects at once with its output. */
async function waitForShell<T>(
  shell: Shell,
  what: string,
  probe: () => T | Promise<T>,
): Promise<NonNullable<T>> {
  const ended = shell.exit.then((code) => {
    throw new Error(`exit code ${code} before ${what}`);
  });
  try {
    return await Promise.race([waitFor(probe, { what }), ended]);
  } catch (cause) {
    throw new Error(shell.output(), { cause });
  }
}

async function run(script: string, options: ShellOptions): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-ec', script], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  });
  return stdout;
}

/** Runs a client example to its end. Returns its output. */
async function runExample(name: string, url: string, key: string): Promise<string> {
  const source = `const url = ${JSON.stringify(url)}; const key = ${JSON.stringify(key)};\n${codeBlock(`js ${name}`)}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
    cwd: ROOT,
  });
  return stdout;
}

/** Sends the example messages for one WebSocket. Returns the replies. */
async function repliesTo(endpoint: string, url: string, key: string): Promise<string[]> {
  const messages = linesOf(codeBlock(`jsonl ${endpoint}`).replaceAll('0x...', ADDRESS));
  const socket = new WebSocket(`${url.replace('http', 'ws')}/${endpoint}?api_key=${key}`);
  const replies: string[] = [];
  socket.on('message', (data) => {
    if (String(data).includes('"id":')) replies.push(String(data));
  });
  await once(socket, 'open');
  for (const message of messages) socket.send(message);
  await waitFor(() => replies.length === messages.length, { what: 'the replies' });
  socket.close();
  return replies;
}

test('npm start gives a newcomer a chain, a key and curl lines that work', async (t) => {
  const env = { TMPDIR: tempDir(t), ATLAS_SERVER__PORT: '0' };
  const dev = startShell(t, lineWith('npm start'), { cwd: ROOT, env });
  await waitForShell(dev, 'the banner', () => dev.output().includes('Ctrl-C'));
  const curls = linesOf(dev.output()).filter((line) => line.startsWith('curl '));
  assert.equal(curls.length, 5);
  const [transfers = ''] = curls;
  assert.ok(JSON.parse(await run(transfers, { cwd: ROOT, env })).count > 0);
  dev.signal('SIGINT');
  await dev.exit;
});

test('the simulator serves a chain by the command of its page', async (t) => {
  const command = `${lineWith('scripts/simulator/replay-node.ts')} --port 0`;
  const node = startShell(t, command, { cwd: ROOT, env: {} });
  const url = await waitForShell(node, 'its address', () => /http:\/\/\S+/.exec(node.output())?.[0]);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
  const answer = await fetch(url, { method: 'POST', body });
  assert.match(await answer.text(), /"result":"0x[0-9a-f]+"/);
});

test('the commands for a daemon beside a node work as written', async (t) => {
  const anvil = await startAnvil({ blockTimeMs: 1_000 });
  t.after(() => anvil.stop());
  const home = tempDir(t);
  const port = String(await freePort());
  const metricsPort = String(await freePort());
  const env = {
    HOME: home,
    PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}`,
    ATLAS_SERVER__PORT: port,
    ATLAS_ADMIN_TOKEN: 'the operator token',
    ATLAS_NODE_HTTP: anvil.url,
  };
  const here = (script: string): string =>
    script
      .replaceAll('http://127.0.0.1:8080', anvil.url)
      .replaceAll('ws://127.0.0.1:8081', anvil.wsUrl)
      .replaceAll('127.0.0.1:9650', `127.0.0.1:${metricsPort}`)
      .replaceAll(':8650', `:${port}`)
      .replaceAll('0x...', ADDRESS);
  const answerTo = (script: string): Promise<string> =>
    run(here(script).replaceAll('curl ', 'curl -sf '), { cwd: ROOT, env });
  const isReady = () => answerTo('curl http://127.0.0.1:8650/readyz');

  const daemon = startShell(t, here(blockWith('atlas-node start --node-http')), { cwd: ROOT, env });
  await waitForShell(daemon, 'readiness', isReady);
  const key = /atlas_[0-9A-Za-z]{38}/.exec(daemon.output())?.[0] ?? '';
  assert.ok(key, daemon.output());

  const answers = await answerTo(blockWith('/api/wallet_summary').replace('atlas_...', key));
  assert.ok(answers.includes(`"address":"${ADDRESS}"`), answers);
  assert.match(answers, /"ready":true/);
  assert.match(answers, /following/);

  assert.match(await answerTo(lineWith('config check')), /./);
  assert.match(await answerTo(lineWith('config show')), /node_http/);
  assert.match(await answerTo(lineWith('keys create')), /atlas_[0-9A-Za-z]{38}/);
  assert.match(await answerTo(lineWith('keys list')), /growth/);
  await answerTo(lineWith('keys usage'));
  assert.match(await answerTo(lineWith('--allow')), /atlas_[0-9A-Za-z]{38}/);
  assert.match(
    await answerTo(blockWith('labels import')),
    /^2 labels imported[\s\S]*my list[\s\S]*2 labels removed$/m,
  );
  for (const option of ['--sample', '--file', '--all']) await answerTo(lineWith(`atlas.toml ${option}`));
  await answerTo(lineWith('atlas-node backup'));
  assert.ok(existsSync(join(home, 'atlas/backup.db')));

  const url = `http://127.0.0.1:${port}`;
  for (const name of ['viem', 'viem-socket']) assert.match(await runExample(name, url, key), /^\d+n$/m);
  for (const name of ['ethers', 'ethers-socket']) assert.match(await runExample(name, url, key), /^\d+$/m);
  for (const endpoint of ['ws', 'ws/signals']) {
    for (const reply of await repliesTo(endpoint, url, key)) assert.match(reply, /"result":"0x[0-9a-f]+"/);
  }
  assert.equal(JSON.parse(await answerTo(lineWith('/admin/api/index'))).status.phase, 'following');
  assert.match(JSON.parse(await answerTo(lineWith('/admin/api/keys'))).key, /^atlas_/);
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exit, 0, daemon.output());

  const debugged = startShell(t, here(lineWith('--inspect')).replace('--inspect', '--inspect=0'), {
    cwd: ROOT,
    env,
  });
  await waitForShell(debugged, 'readiness under a debugger', isReady);
  assert.match(debugged.output(), /Debugger listening/);
  debugged.signal('SIGTERM');
  assert.equal(await debugged.exit, 0, debugged.output());

  const measured = startShell(t, here(lineWith('ATLAS_METRICS__LISTEN')), { cwd: ROOT, env });
  const metrics = lineWith('/metrics');
  assert.match(await waitForShell(measured, 'metrics', () => answerTo(metrics)), /^atlas_ready /m);
  measured.signal('SIGTERM');
  assert.equal(await measured.exit, 0, measured.output());
});

test('these tests ran every command in the docs', () => {
  lineWith('npm run bench'); // test/bench/bench.slow.test.ts runs it
  const commands = SHELL_BLOCKS.flatMap(linesOf);
  assert.ok(commands.length > 20, `only ${commands.length} were found`);
  assert.deepEqual(
    commands.filter((line) => !commandsRun.has(line)),
    [],
  );
});
