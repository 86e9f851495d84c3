/** The programs that the RPC bench sets against each other, each on loopback and pinned to one core. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ATLAS_NODE = resolve(import.meta.dirname, '../../bin/atlas-node');
const START_TIMEOUT_MS = 20_000;

/** A running server. */
export interface Program {
  name: string;
  url: string;
  /** Processes whose processor time is what it costs. */
  pids: number[];
  stop(): Promise<void>;
}

/** What is undone when this process ends, however it does. */
const undone: (() => void)[] = [];
process.on('exit', () => {
  for (const undo of undone) undo();
});

/** A folder that is removed at the end of the process. */
export function scratchDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'atlas-bench-'));
  undone.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** nginx with this `server` block body, as a single worker. */
export async function startNginx(
  name: string,
  core: number,
  location: string,
  upstream = '',
): Promise<Program> {
  const dir = scratchDir();
  const port = await freePort();
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${dir}/${kind};`,
  );
  writeFileSync(
    join(dir, 'nginx.conf'),
    `worker_processes 1; daemon off; pid ${dir}/pid; error_log ${dir}/error.log;
    events { worker_connections 2048; }
    http { access_log off; keepalive_requests 1000000000; client_body_buffer_size 64k; ${temp.join(' ')}
      ${upstream}
      server { listen 127.0.0.1:${port}; default_type application/json; ${location} } }`,
  );
  const child = pinned(core, 'nginx', ['-e', join(dir, 'error.log'), '-c', join(dir, 'nginx.conf')]);
  const url = `http://127.0.0.1:${port}`;
  await answering(url, child);
  const workers = execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' });
  return { name, url, pids: workers.trim().split('\n').map(Number), stop: () => end(child) };
}

/** nginx that answers every call alike: a node that is never the limit. */
export function startFixedNode(core: number): Promise<Program> {
  const result = `0x${'1234567890abcdef'.repeat(4)}`;
  return startNginx(
    'node',
    core,
    `location / { return 200 '{"jsonrpc":"2.0","id":1,"result":"${result}"}'; }`,
  );
}

/** nginx in front of a node. */
export function startProxy(core: number, node: string): Promise<Program> {
  const upstream = `upstream node { server ${new URL(node).host}; keepalive 64; keepalive_requests 1000000000; }`;
  const location =
    'location / { proxy_pass http://node; proxy_http_version 1.1; proxy_set_header Connection ""; }';
  return startNginx('nginx', core, location, upstream);
}

/** The program itself, with a key that nothing limits. */
export async function startGateway(core: number, node: string): Promise<Program & { key: string }> {
  const dir = scratchDir();
  const port = await freePort();
  const create = ['keys', 'create', '--name', 'bench', '--tier', 'unlimited', '--data-dir', dir, '--json'];
  const { key } = JSON.parse(execFileSync(ATLAS_NODE, create, { encoding: 'utf8' })) as { key: string };
  const args = [
    'start',
    '--node-http',
    node,
    '--data-dir',
    dir,
    '--port',
    String(port),
    '--log-level',
    'error',
  ];
  const child = pinned(core, ATLAS_NODE, args);
  const url = `http://127.0.0.1:${port}`;
  await answering(`${url}/healthz`, child);
  return { name: 'gateway', url: `${url}/rpc`, key, pids: [child.pid ?? 0], stop: () => end(child) };
}

function pinned(core: number, command: string, args: readonly string[]): ChildProcess {
  const child = spawn('taskset', ['-c', String(core), command, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  undone.push(() => child.kill());
  return child;
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (
    !(await fetch(url).then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`${child.spawnargs.join(' ')} does not answer`);
    await sleep(50);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
