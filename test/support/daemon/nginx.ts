/** The shipped nginx configuration, run by a real nginx in front of ports of this machine. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killOnParentExit, removeOnParentExit } from '../../../src/lib/kill-on-parent-exit.ts';
import type { Cleanup } from '../cleanup.ts';
import { freePort } from '../free-port.ts';
import { waitFor } from '../wait.ts';
import { ROOT } from './command.ts';

/** Debian installs it outside an ordinary user's PATH. */
const PROGRAM = ['nginx', '/usr/sbin/nginx'].find((path) => spawnSync(path, ['-v']).status === 0);

export const hasNginx = PROGRAM !== undefined;

export interface Nginx {
  url: string;
  /** Its log. */
  errors(): string;
}

/** Starts nginx with scripts/nginx.conf, for the daemons at `ports`. */
export async function startNginx(cleanup: Cleanup, ports: readonly number[], port = 0): Promise<Nginx> {
  if (PROGRAM === undefined) throw new Error('this machine has no nginx');
  const dir = mkdtempSync(join(tmpdir(), 'atlas-nginx-'));
  chmodSync(dir, 0o755);
  removeOnParentExit(dir);
  cleanup.after(() => rmSync(dir, { recursive: true, force: true }));
  const listen = port === 0 ? await freePort() : port;
  const shipped = readFileSync(join(ROOT, 'scripts/nginx.conf'), 'utf8');
  writeFileSync(join(dir, 'nginx.conf'), wholeConfig(withPorts(shipped, ports, listen, dir), dir));
  // -e: the log until it has read its configuration.
  const child = spawn(PROGRAM, ['-p', dir, '-c', 'nginx.conf', '-e', join(dir, 'error.log')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  killOnParentExit(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-8_000);
  });
  cleanup.after(() => end(child));
  await waitFor(() => accepts(child, listen, () => errors), { what: 'nginx to accept connections' });
  return { url: `http://127.0.0.1:${listen}`, errors: () => errors };
}

/** The shipped text with other addresses. Throws if the lines to replace are missing. */
function withPorts(text: string, ports: readonly number[], listen: number, dir: string): string {
  const replace = (from: RegExp, to: string, count: number) => {
    const found = text.match(from)?.length ?? 0;
    if (found !== count) throw new Error(`scripts/nginx.conf has ${found} of ${from}, not ${count}`);
    text = text.replace(from, to);
  };
  const servers = ports.map((port) => `server 127.0.0.1:${port} max_fails=2 fail_timeout=2s;`).join('\n  ');
  replace(/server 127\.0\.0\.1:8650 [^;]*;\n\s*server 127\.0\.0\.1:8651 [^;]*;/g, servers, 1);
  replace(/listen 8640;/g, `listen 127.0.0.1:${listen};`, 1);
  replace(/\/var\/log\/nginx\/atlas-node\.log/g, join(dir, 'access.log'), 1);
  return text;
}

/** A configuration without dependencies on the machine. */
function wholeConfig(http: string, dir: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(dir, name)};`)
    .join('\n');
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${join(dir, 'nginx.pid')};
error_log stderr warn;
events { worker_connections 512; }
http {
${temporary}
${http}
}
`;
}

async function accepts(child: ChildProcess, port: number, errors: () => string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`nginx ended: ${errors()}`);
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
