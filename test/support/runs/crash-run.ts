/**
 * A real daemon process that is killed repeatedly with SIGKILL, at moments chosen by its activity, on a chain that
 * grows and is reorganised. Its node does not show every payment in the traces of some blocks, which are gaps. The
 * result must be as if it had never been killed, and a repair with a node that shows all must complete it.
 */
import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../../scripts/simulator/replay/controls.ts';
import { openKeysFile } from '../../../src/access/keys-file.ts';
import { readUsage } from '../../../src/access/usage-tables.ts';
import type { JsonObject } from '../../../src/decode/read-json.ts';
import { readLastBlock } from '../../../src/store/chain.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import { randomSource } from '../chain/random-chain.ts';
import { type Cleanup, scriptCleanup } from '../cleanup.ts';
import { PROGRAM } from '../daemon/command.ts';
import { type DaemonProcess, daemonProcess } from '../daemon/daemon-process.ts';
import { freePort } from '../free-port.ts';
import { buildIndex } from '../index/build-index.ts';
import { dumpIndex } from '../index/dump.ts';
import { repairFile } from '../index/verify.ts';
import { type MisbehavingNode, startMisbehavingNode } from '../nodes/misbehaving-node.ts';
import { startNode } from '../nodes/replay.ts';
import { waitFor } from '../wait.ts';

/** The daemon's activity at the kill. */
export const PHASES = ['starting', 'backfilling', 'following', 'reorging', 'checkpointing'] as const;
export type Phase = (typeof PHASES)[number];

interface CrashRunOptions {
  seed: number;
  kills: number;
  /** Folder for all files. */
  dir: string;
  onKill?(kill: number, phase: Phase): void;
}

interface CrashRunResult {
  /** All rows after the kills, and of an index built without any. */
  actual: string[];
  fresh: string[];
  /** The same after a repair of the gaps, and of an index built from a node that shows everything. */
  repaired: string[];
  complete: string[];
  /** Gaps before the repair. */
  gaps: number;
  kills: Record<Phase, number>;
  /** Requests answered over all runs of the daemon, and those counted in its file. */
  answered: number;
  counted: number;
}

/** The usage that a kill may lose: the traffic of one second. */
const USAGE_LOSS_MS = 1_000;

/** Deepest reorg: the index may end this much lower than it had shown. */
const MAX_REORG = 12;

/** Blocks of the chain per kill, so that there is always something to index. */
const BLOCKS_PER_KILL = 14;

export async function runCrashes({ seed, kills, dir, onKill }: CrashRunOptions): Promise<CrashRunResult> {
  const random = randomSource(seed * 40_503);
  const chain = [
    ...generateChain({ seed, blocks: 100 + kills * BLOCKS_PER_KILL, txPerBlock: 12, wallets: 60, tokens: 20 })
      .blocks,
  ];
  const owner = scriptCleanup();
  const node = await startNode(owner, { chain, head: 20, finalizedLag: 128 });
  const hiding = await startMisbehavingNode({ upstream: node.url });
  owner.after(() => hiding.close());
  hiding.misbehave({ replace: hidePayments });
  const trial = new Trial(owner, node, hiding, join(dir, 'trial'), await freePort());
  const done = Object.fromEntries(PHASES.map((phase) => [phase, 0])) as Record<Phase, number>;
  try {
    for (let kill = 0; kill < kills; kill++) {
      const phase = PHASES[kill % PHASES.length]!;
      await trial.killWhile(phase, random);
      trial.checkAfterKill();
      done[phase]++;
      onKill?.(kill + 1, phase);
    }
    const head = node.setHead(chain.length);
    await trial.finish(head);
    const build = (url: string, name: string) => {
      mkdirSync(join(dir, name));
      return buildIndex({ url, dir: join(dir, name), startBlock: 1 });
    };
    const fresh = dumpIndex(await build(hiding.url, 'fresh'));
    const actual = dumpIndex(trial.indexPath);
    await repairFile(trial.indexPath, node.url, 1, head);
    const { answered, counted } = trial;
    return {
      actual,
      fresh,
      repaired: dumpIndex(trial.indexPath),
      complete: dumpIndex(await build(node.url, 'complete')),
      gaps: actual.filter((row) => row.startsWith('block_gaps ')).length,
      kills: done,
      answered,
      counted,
    };
  } finally {
    await owner.close();
  }
}

/** Adds a payment that cannot be read to the traces of every fourth block. */
function hidePayments(method: string, [block]: readonly unknown[], result: unknown): unknown {
  if (method !== 'debug_traceBlockByHash' || !/[0-3]$/.test(String(block))) return result;
  return (result as { result: JsonObject & { calls?: object[] } }[]).map((item) => ({
    ...item,
    result: { ...item.result, calls: [...(item.result.calls ?? []), { type: 'SELFDESTRUCT' }] },
  }));
}

/** The data folder, and the consecutive daemons on it. */
class Trial {
  readonly indexPath: string;
  answered = 0;
  private readonly node: ReplayNode;
  private readonly dataDir: string;
  private readonly key: string;
  private readonly daemon: DaemonProcess;
  private traffic: Traffic | null = null;
  /** Requests counted in the file at the end of the previous run. */
  private countedBefore = 0;

  /** `hiding` is what the daemons use. */
  constructor(cleanup: Cleanup, node: ReplayNode, hiding: MisbehavingNode, dataDir: string, port: number) {
    this.node = node;
    this.dataDir = dataDir;
    this.indexPath = join(dataDir, 'index.db');
    mkdirSync(dataDir);
    this.daemon = daemonProcess(
      cleanup,
      { ATLAS_INDEX__BATCH_TRANSFERS: '300' },
      {
        port,
        dir: dataDir,
        program: [process.execPath, PROGRAM],
        flags: ['--node-http', hiding.url, '--node-ws', hiding.wsUrl, '--log-level', 'error'],
      },
    );
    this.key = this.daemon.key;
    cleanup.after(() => this.traffic?.stop());
  }

  get counted(): number {
    return this.countedBefore;
  }

  /** Starts a daemon, brings it into the phase and kills it there. */
  async killWhile(phase: Phase, random: () => number): Promise<void> {
    const wait = (ms: number) => sleep(random() * ms);
    if (phase === 'backfilling') this.node.mine(BLOCKS_PER_KILL);
    this.start();
    if (phase === 'starting') await wait(1_200);
    else await this.whenReady();
    switch (phase) {
      case 'backfilling':
        await wait(400);
        break;
      case 'following':
        await this.atHead();
        for (let blocks = random() * 8; blocks > 0; blocks--) {
          this.node.mine();
          await wait(60);
        }
        break;
      case 'reorging':
        await this.atHead();
        this.node.fork(Math.max(2, this.node.stats().head - Math.floor(random() * MAX_REORG)));
        this.node.mine();
        await wait(80);
        break;
      case 'checkpointing':
        await this.atHead();
        await this.untilCheckpoint(random);
    }
    await this.kill();
  }

  /** Invariants whenever the daemon is dead: no block that was served is lost, and usage is nearly complete. */
  checkAfterKill(): void {
    const { answeredBy, sent, last } = this.traffic ?? { answeredBy: () => 0, sent: 0, last: 0 };
    const db = openKeysFile(join(this.dataDir, 'keys.db'));
    const counted = readUsage(db).reduce((sum, { requests }) => sum + requests, 0);
    db.close();
    const gained = counted - this.countedBefore;
    const sure = answeredBy(last - USAGE_LOSS_MS);
    assert.ok(
      gained >= sure && gained <= sent,
      `usage grew by ${gained}, ${sure} to ${sent} requests were made`,
    );
    this.countedBefore = counted;
    this.answered += answeredBy(performance.now());
    const shown = this.traffic?.newestBlock ?? 0;
    const head = this.readHead();
    assert.ok(head >= shown - MAX_REORG, `block ${shown} was shown, the file ends at ${head}`);
    this.traffic = null;
  }

  /** Lets a last daemon reach the end of the chain and stops it. */
  async finish(head: number): Promise<void> {
    this.start();
    await this.whenReady();
    await waitFor(async () => (await this.headOfDaemon()) === head, {
      what: `block ${head}`,
    });
    await this.traffic?.stop();
    assert.equal(await this.daemon.end('SIGTERM'), 0, 'it stops on request');
    this.checkAfterKill();
  }

  private start(): void {
    this.daemon.launch();
    this.traffic = new Traffic(this.daemon.port, this.key);
  }

  private async kill(): Promise<void> {
    const stopped = this.traffic?.stop();
    await this.daemon.end('SIGKILL');
    await stopped;
  }

  private async whenReady(): Promise<void> {
    await waitFor(() => (this.traffic?.newestBlock ?? 0) > 0 || !this.daemon.isRunning(), {
      what: 'the daemon to answer',
      everyMs: 10,
    });
    assert.ok(this.daemon.isRunning(), `the daemon ended by itself: ${this.daemon.stderr()}`);
  }

  private async atHead(): Promise<void> {
    const { head } = this.node.stats();
    await waitFor(async () => (await this.headOfDaemon()) >= head, {
      what: `block ${head}`,
    });
  }

  private async headOfDaemon(): Promise<number> {
    const response = await fetch(`${this.daemon.url}/status`);
    const { head } = (await response.json()) as { head: { number: number } | null };
    return head?.number ?? 0;
  }

  /** Mines blocks until the database file itself is written, which only a checkpoint does. */
  private async untilCheckpoint(random: () => number): Promise<void> {
    const written = () => statSync(this.indexPath, { bigint: true }).mtimeNs;
    const before = written();
    for (let blocks = 0; blocks < BLOCKS_PER_KILL && written() === before; blocks++) {
      this.node.mine();
      for (let ms = 0; ms < 40 && written() === before; ms++) await sleep(1);
    }
    await sleep(random() * 2);
  }

  private readHead(): number {
    const db = openDatabase(this.indexPath);
    try {
      return readLastBlock(db)?.number ?? 0;
    } catch {
      return 0; // killed before the tables were created
    } finally {
      db.close();
    }
  }
}

/** Pause between two requests, milliseconds. Without it the requests would take most of the processor's time. */
const REQUEST_PAUSE_MS = 10;

/** One client that sends requests constantly. */
class Traffic {
  sent = 0;
  /** Highest block in any answer. */
  newestBlock = 0;
  private readonly answers: number[] = [];
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor(port: number, key: string) {
    this.running = this.run(`http://127.0.0.1:${port}/api/wallet_summary?address=0x${'1'.repeat(40)}`, key);
  }

  /** Time of the last answer, by performance.now(): the daemon may have had no time to write after it. */
  get last(): number {
    return this.answers.at(-1) ?? 0;
  }

  /** Requests answered up to a time of performance.now(). */
  readonly answeredBy = (time: number): number => this.answers.filter((at) => at <= time).length;

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(url: string, key: string): Promise<void> {
    const headers = { 'X-API-Key': key };
    while (!this.stopping.signal.aborted) {
      this.sent++;
      try {
        const response = await fetch(url, { headers, signal: AbortSignal.timeout(5_000) });
        await response.text();
        if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
        this.answers.push(performance.now());
        this.newestBlock = Math.max(this.newestBlock, Number(response.headers.get('X-Indexed-Block')));
        await sleep(REQUEST_PAUSE_MS);
      } catch {
        await sleep(20); // not there yet, or dead
      }
    }
  }
}
