/** The README's commands, taken from its text and run as a reader would. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { startAnvil } from '../src/dev/anvil.ts';
import { freePort } from './support/free-port.ts';
import { tempDir } from './support/temp-dir.ts';
import { waitFor } from './support/wait.ts';

const ROOT = resolve(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
/** Stands for `0x...`. */
const ADDRESS = '0xf39fd6e51aad88f6f4ce6ab8827279cff8b92266';
/** Lines of all shell blocks, in order. */
const COMMANDS = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);

function commandWith(text: string): string {
  const found = COMMANDS.find((line) => line.includes(text));
  assert.ok(found, `the README has no command with ${text}`);
  return found;
}

/** Runs a line in a shell of its own process group, which is ended with the test; gives what it has printed so far. */
function shell(t: TestContext, line: string, options: { cwd: string; env: Record<string, string> }) {
  const child: ChildProcess = spawn('/bin/sh', ['-c', line], {
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
  const exit = once(child, 'exit').then(([code]) => Number(code));
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, name);
  };
  t.after(() => signal('SIGKILL'));
  return { output: () => output, exit, signal };
}

async function run(line: string, options: { cwd: string; env: Record<string, string> }): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  });
  return stdout;
}

/** Runs a client example of the README to its end; gives what it printed. */
async function runExample(name: string, url: string, key: string): Promise<string> {
  const code = new RegExp(`\`\`\`js ${name}\\n([\\s\\S]*?)\`\`\``).exec(README)?.[1];
  assert.ok(code, `the README has no ${name} example`);
  const source = `const url = ${JSON.stringify(url)}; const key = ${JSON.stringify(key)};\n${code}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
    cwd: ROOT,
  });
  return stdout;
}

/** Sends each message of the README for one WebSocket; gives the replies. */
async function repliesTo(endpoint: string, url: string, key: string): Promise<string[]> {
  const block = new RegExp(`\`\`\`jsonl ${endpoint}\\n([\\s\\S]*?)\`\`\``).exec(README)?.[1];
  assert.ok(block, `the README has no messages for ${endpoint}`);
  const messages = block.trim().replaceAll('0x...', ADDRESS).split('\n');
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

test('every file and folder that the README names is there', () => {
  const named = [
    ...README.matchAll(/(?:`|\]\()((?:src|scripts|test)\/[\w./-]+|[\w-]+\.example\.toml)[`)]/g),
  ].map(([, path = '']) => path);
  assert.ok(named.length > 20, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});

test('no part of the README stands in it twice', () => {
  const lines = README.split('\n').filter((line) => /^#+ |^\|/.test(line) && !/^[|\s:-]+$/.test(line));
  assert.deepEqual(
    lines.filter((line, i) => lines.indexOf(line) !== i),
    [],
  );
});

test('every link within the README leads to a heading', () => {
  const anchors = [...README.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const links = [...README.matchAll(/\]\(#([^)]*)\)/g)].map(([, anchor = '']) => anchor);
  assert.ok(links.length > 3);
  assert.deepEqual(
    links.filter((anchor) => !anchors.includes(anchor)),
    [],
  );
});

test('npm start gives a stranger a chain, a key and lines that answer', async (t) => {
  assert.ok(COMMANDS.includes('npm start'));
  const env = { TMPDIR: tempDir(t), ATLAS_SERVER__PORT: '0' };
  const dev = shell(t, 'npm start', { cwd: ROOT, env });
  await waitFor(() => dev.output().includes('Ctrl-C'), { what: 'the banner' }).catch((cause) => {
    throw new Error(dev.output(), { cause });
  });
  const [line = ''] = dev
    .output()
    .split('\n')
    .filter((text) => text.startsWith('curl '));
  const transfers = JSON.parse(await run(line, { cwd: ROOT, env }));
  assert.ok(transfers.count > 0);
  dev.signal('SIGINT');
  await dev.exit;
});

test('init, start, status and the curl lines work beside a node as they stand', async (t) => {
  const anvil = await startAnvil({ blockTimeMs: 1_000 });
  t.after(() => anvil.stop());
  const home = tempDir(t);
  const bin = join(home, 'bin');
  mkdirSync(bin);
  symlinkSync(join(ROOT, 'bin/atlas-node'), join(bin, 'atlas-node'));
  const port = String(await freePort());
  const env = {
    HOME: home,
    PATH: `${bin}:${process.env['PATH']}`,
    ATLAS_SERVER__PORT: port,
    ATLAS_ADMIN_TOKEN: 'the operator token',
  };

  const printed = await run(commandWith('atlas-node init'), { cwd: ROOT, env });
  const key = /atlas_[0-9A-Za-z]{38}/.exec(printed)?.[0] ?? '';
  assert.ok(key, printed);

  const startLine = commandWith('atlas-node start')
    .replace('http://127.0.0.1:8080', anvil.url)
    .replace('ws://127.0.0.1:8081', anvil.wsUrl);
  const daemon = shell(t, `cd ~/atlas && ${startLine}`, { cwd: home, env });
  const here = (line: string): string => line.replace('8650', port).replace('0x...', ADDRESS);
  await waitFor(() => run(here(commandWith('/readyz')).replace('curl', 'curl -sf'), { cwd: home, env }), {
    what: 'readiness',
  }).catch((cause) => {
    throw new Error(daemon.output(), { cause });
  });
  const summary = JSON.parse(
    await run(here(commandWith('/api/wallet_summary')), { cwd: home, env: { ...env, KEY: key } }),
  );
  assert.equal(summary.address, ADDRESS);
  assert.match(await run('atlas-node status', { cwd: join(home, 'atlas'), env }), /following/);
  assert.match(await run('atlas-node config show', { cwd: join(home, 'atlas'), env }), /node_http/);

  const nodeEnv = { ...env, ATLAS_NODE_HTTP: anvil.url };
  assert.match(await run(commandWith('keys create'), { cwd: home, env }), /atlas_[0-9A-Za-z]{38}/);
  await run(commandWith('atlas-node verify'), { cwd: home, env: nodeEnv });
  await run(commandWith('atlas-node backup'), { cwd: home, env: nodeEnv });
  assert.ok(existsSync(join(home, 'atlas/backup.db')));

  const url = `http://127.0.0.1:${port}`;
  assert.match(await runExample('viem', url, key), /^\d+n$/m);
  assert.match(await runExample('ethers', url, key), /^\d+$/m);
  for (const endpoint of ['ws', 'ws/signals']) {
    for (const reply of await repliesTo(endpoint, url, key)) assert.match(reply, /"result":"0x[0-9a-f]+"/);
  }
  const operate = async (text: string) =>
    JSON.parse(await run(here(commandWith(text)).replace('curl', 'curl -s'), { cwd: home, env }));
  assert.equal((await operate('/admin/api/index')).status.phase, 'following');
  assert.match((await operate('/admin/api/keys')).key, /^atlas_/);
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exit, 0, daemon.output());
});
