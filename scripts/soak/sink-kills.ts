/** Kills the daemon and PostgreSQL while the daemon writes to PostgreSQL. See `--help`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { isObject } from '../../src/lib/text.ts';
import { randomSource } from '../../test/support/chain/random-chain.ts';
import { scriptCleanup } from '../../test/support/cleanup.ts';
import { PROGRAM } from '../../test/support/daemon/command.ts';
import { type DaemonProcess, daemonProcess } from '../../test/support/daemon/daemon-process.ts';
import { freePort } from '../../test/support/free-port.ts';
import { startGeneratedNode } from '../../test/support/nodes/replay.ts';
import { startTcpProxy } from '../../test/support/nodes/tcp-proxy.ts';
import { assertSameRows } from '../../test/support/same-rows.ts';
import { startPostgres } from '../../test/support/sink/postgres.ts';
import { expectedSinkRows, storedSinkRows } from '../../test/support/sink/sink-rows.ts';
import { waitFor } from '../../test/support/wait.ts';
import { MAX_SEED, readOptions, refuse } from '../options.ts';

const options = readOptions(
  'Runs a daemon with sink.postgres beside a chain that grows and forks; kills the daemon and PostgreSQL, ' +
    'cuts the network between them, and compares every row in the end. A failure leaves the files.',
  {
    kills: { kind: 'whole', about: 'kills and cuts', default: 50, range: [1, 100_000] },
    seed: { kind: 'whole', about: 'of the chain and the moments', default: 1, range: [0, MAX_SEED] },
    'full-disk': {
      kind: 'flag',
      about: 'PostgreSQL on a disk of 150 MB that is filled up in between; needs root, to mount it',
    },
  },
);
const fullDisk = options['full-disk'];
if (fullDisk && process.getuid?.() !== 0) refuse('--full-disk needs root');

const FAILURES = [
  'daemon killed',
  'PostgreSQL killed',
  'network cut',
  'backend ended',
  'PostgreSQL restarted',
] as const;
/** Blocks by which the chain grows per failure, and the deepest fork. */
const BLOCKS_PER_FAILURE = 20;
const DEEPEST_FORK = 40;
/** Longest time for a step of the sink after a failure, milliseconds. The sink backs off up to 15 s. */
const CATCH_UP_MS = 120_000;

const dir = mkdtempSync(join(tmpdir(), 'atlas-sink-kills-'));
chmodSync(dir, 0o755); // if this runs as root, PostgreSQL runs as another user
const dataDir = join(dir, 'data');
mkdirSync(dataDir);
const cleanup = scriptCleanup();
async function run(): Promise<void> {
  const random = randomSource(options.seed * 40_503 + 1);
  const blocks = 100 + options.kills * BLOCKS_PER_FAILURE;
  const chain = { seed: options.seed, blocks, txPerBlock: 40, wallets: 300, tokens: 40 };
  const { node } = await startGeneratedNode(cleanup, chain, { head: 50, finalizedLag: 128 });
  const disk = fullDisk ? mountSmallDisk() : undefined;
  const server = await startPostgres(cleanup, disk === undefined ? {} : { dataDir: join(disk, 'data') });
  const direct = await server.createDatabase('kills');
  const proxy = await startTcpProxy(cleanup, server.port);
  const daemon = new Daemon(
    node.url,
    direct.replace(`:${server.port}/`, `:${proxy.port}/`),
    await freePort(),
  );
  daemon.start();
  const fail: Record<(typeof FAILURES)[number], () => Promise<void>> = {
    async 'daemon killed'() {
      await daemon.kill();
      daemon.start();
    },
    async 'PostgreSQL killed'() {
      await server.kill();
      await sleep(random() * 300);
      await server.start();
    },
    async 'network cut'() {
      proxy.isDown = true;
      proxy.cut();
      await sleep(random() * 300);
      proxy.isDown = false;
    },
    async 'backend ended'() {
      await ask(
        direct,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'atlas-node sink'",
      );
    },
    async 'PostgreSQL restarted'() {
      await server.stop();
      await server.start();
    },
  };
  for (let kill = 0; kill < options.kills; kill++) {
    const failure = FAILURES[kill % FAILURES.length]!;
    const head = node.stats().head;
    if (random() < 0.4 && head > DEEPEST_FORK + 2) node.fork(head - Math.floor(random() * DEEPEST_FORK));
    node.mine(1 + Math.floor(random() * (BLOCKS_PER_FAILURE - 1)));
    // A third of the failures happen while the sink is at the head, the others anywhere in its work.
    if (random() < 0.3) await daemon.writes(node.stats().head);
    else await sleep(random() * 1_500);
    await fail[failure]();
    if (disk !== undefined && kill % 10 === 9)
      await fillUp(direct, disk, () => node.mine(BLOCKS_PER_FAILURE), daemon);
    console.log(`${kill + 1}: ${failure} at block ${node.stats().head}`);
  }
  await daemon.writes(node.stats().head);
  const stored = await storedSinkRows(direct);
  assertSameRows(stored, expectedSinkRows(join(dataDir, 'index.db'), { wallets: true }));
  console.log(`${stored.length} rows equal after ${options.kills} failures`);
}

/** A disk that is full after some 60 MB of tables. The cleanup removes it. */
function mountSmallDisk(): string {
  const path = join(dir, 'disk');
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=150m', 'tmpfs', path]);
  cleanup.after(() => void execFileSync('umount', ['-l', path]));
  chmodSync(path, 0o777);
  return path;
}

/** Fills the disk, lets the sink hit the failure, and frees the disk. */
async function fillUp(url: string, disk: string, mine: () => unknown, daemon: Daemon): Promise<void> {
  const filler = join(disk, 'filler');
  execFileSync('sh', ['-c', 'dd if=/dev/zero of="$1" bs=64k 2>/dev/null || true', 'sh', filler]);
  const reasonFor = () =>
    daemon.sink().then((sink) => /disk is full|cannot be reached|starting/.test(String(sink['reason'])));
  for (let i = 0; i < 40 && !(await reasonFor().catch(() => false)); i++) {
    mine();
    await sleep(100);
  }
  const { reason } = await daemon.sink();
  rmSync(filler);
  console.log(`the disk was full: ${reason}`);
  await waitFor(() => ask(url, 'SELECT 1').then(() => true), { what: 'PostgreSQL to answer' });
}

async function ask(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Consecutive daemons on one data folder. */
class Daemon {
  private readonly process: DaemonProcess;

  constructor(node: string, postgresUrl: string, port: number) {
    this.process = daemonProcess(
      cleanup,
      {
        ATLAS_INDEX__BATCH_TRANSFERS: '3000',
        ATLAS_SINK__POSTGRES__URL: postgresUrl,
        ATLAS_SINK__POSTGRES__WALLETS: 'true',
        ATLAS_SINK__POSTGRES__PARTITION_BLOCKS: '1000',
      },
      {
        port,
        dir: dataDir,
        program: [process.execPath, PROGRAM],
        flags: ['--node-http', node, '--log-level', 'error'],
      },
    );
  }

  start(): void {
    this.process.launch();
  }

  async kill(): Promise<void> {
    await this.process.end('SIGKILL');
  }

  /** The sink's part of /status. */
  async sink(): Promise<Record<string, unknown>> {
    assert.ok(this.process.isRunning(), `the daemon ended by itself: ${this.process.stderr()}`);
    const status: unknown = await (await fetch(`${this.process.url}/status`)).json();
    return isObject(status) && isObject(status['sink']) ? status['sink'] : {};
  }

  /** Resolves when the sink has written the block and waits for the next. */
  async writes(block: number): Promise<void> {
    const isThere = async () => {
      const sink = await this.sink();
      return sink['state'] === 'following' && sink['block'] === block;
    };
    await waitFor(isThere, { what: `block ${block} in PostgreSQL`, timeoutMs: CATCH_UP_MS, everyMs: 50 });
  }
}

try {
  await run();
} finally {
  await cleanup.close();
}
rmSync(dir, { recursive: true });
