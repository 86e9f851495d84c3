/** nginx as a reverse proxy in front of a node: one worker, no needless disk writes. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FatalError } from '../../../src/lib/errors.ts';
import { killOnParentExit } from '../../../src/lib/kill-on-parent-exit.ts';
import { pinnedCommand } from '../process/cores.ts';
import { waitUntil } from '../wait-until.ts';

const run = promisify(execFile);

/** Its location on Debian and most other systems. Users rarely have it in their PATH. */
const PATHS = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'];
const START_TIMEOUT_MS = 10_000;
/** Requests before a connection is closed: more than any measurement makes. */
const KEEP_ALIVE_REQUESTS = 1_000_000_000;

export interface Nginx {
  version: string;
  pid: number;
  port: number;
  stop(): Promise<void>;
}

/** Path of nginx, null if it is not installed. */
export function findNginx(): string | null {
  return PATHS.find((path) => existsSync(path)) ?? null;
}

/** Starts nginx on a free loopback port, with its files below `folder`. */
export async function startNginx(
  program: string,
  { upstreamPort, folder, cores }: { upstreamPort: number; folder: string; cores: string | null },
): Promise<Nginx> {
  const home = join(folder, 'nginx');
  mkdirSync(home, { recursive: true });
  const port = await freePort();
  const config = join(home, 'nginx.conf');
  writeFileSync(config, configText(home, port, upstreamPort));
  const errors = join(home, 'error.log');
  const [file = '', ...args] = pinnedCommand([program, '-p', home, '-c', config, '-e', errors], cores);
  const child = spawn(file, args, { stdio: 'ignore', detached: true });
  killOnParentExit(child);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code) => resolve(`it ended with ${code}`));
    child.once('error', ({ message }) => resolve(message));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  try {
    await waitUntil(
      async () => {
        if (child.exitCode !== null)
          throw new FatalError(`${program} does not run here: ${await exited}; uninstall it to leave it out`);
        return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(() => null);
      },
      { what: 'nginx to listen', timeoutMs: START_TIMEOUT_MS, everyMs: 20 },
    );
    // nginx prints its version to stderr.
    const { stderr } = await run(program, ['-v']);
    return { version: /nginx\/(\S+)/.exec(stderr)?.[1] ?? '', pid: child.pid ?? 0, port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A currently unused port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  return address.port;
}

function configText(home: string, port: number, upstreamPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(home, name)};`,
  );
  // A single process, so that its processor time is the whole proxy's.
  return `daemon off;
master_process off;
pid ${join(home, 'pid')};
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests ${KEEP_ALIVE_REQUESTS};
  ${temporary.join('\n  ')}
  upstream node {
    server 127.0.0.1:${upstreamPort};
    keepalive 64;
    keepalive_requests ${KEEP_ALIVE_REQUESTS};
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://node;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
}
