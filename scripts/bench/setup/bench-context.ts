/**
 * Resources shared by the measurements: the chain and its node, the filled index, and the processes under measurement.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { CleanupStack } from '../../../src/lib/cleanup-stack.ts';
import { FatalError } from '../../../src/lib/errors.ts';
import { removeOnParentExit } from '../../../src/lib/kill-on-parent-exit.ts';
import type { BenchOptions } from '../options.ts';
import { type Cores, chooseCores } from '../process/cores.ts';
import { untilIdle } from '../process/resource-usage.ts';
import { WorkerProcess } from '../process/worker-process.ts';
import type { ChainNodeActions } from '../workers/chain-node.ts';
import type { WorkerActions, WorkerName } from '../workers/workers.ts';
import { chainPlan } from './chain-plan.ts';
import { type DaemonOptions, type DaemonProcess, startDaemonProcess } from './daemon-process.ts';
import { type ChainNode, fillIndex } from './fill-index.ts';
import { findSubjects, type Subjects } from './subjects.ts';

/** Opens each resource on first use. `close` ends and removes all of them. */
export class BenchContext {
  readonly options: BenchOptions;
  readonly cores: Cores;
  /** A temporary folder. */
  readonly folder: string;
  /** Reports the current step. */
  readonly log: (text: string) => void;
  private readonly closers = new CleanupStack();
  /** Running processes, to be ended when the run is aborted. */
  private readonly running = new Set<() => Promise<void>>();
  private closed = false;
  private chainNode: Promise<ChainNode> | undefined;
  private index: Promise<string> | undefined;
  private foundSubjects: Subjects | undefined;

  static async open(options: BenchOptions, log: (text: string) => void): Promise<BenchContext> {
    return new BenchContext(options, log, await chooseCores());
  }

  private constructor(options: BenchOptions, log: (text: string) => void, cores: Cores) {
    this.options = options;
    this.log = log;
    this.cores = cores;
    this.folder = mkdtempSync(join(tmpdir(), 'atlas-bench-'));
    removeOnParentExit(this.folder);
    this.closers.adopt(this.folder, (folder) => rmSync(folder, { recursive: true, force: true }));
  }

  /** The chain's node. */
  chain(): Promise<ChainNode> {
    this.chainNode ??= this.openChain();
    return this.chainNode;
  }

  /** The data folder of an index with at least the first segment of the chain. No daemon runs on it. */
  filledFolder(): Promise<string> {
    this.index ??= this.fill();
    return this.index;
  }

  /** Makes `filledFolder` return a freshly filled data folder. */
  useFilledFolder(dataDir: string): void {
    this.index = Promise.resolve(dataDir);
  }

  /** Wallets and tokens of the filled index. */
  async subjects(): Promise<Subjects> {
    this.foundSubjects ??= findSubjects(join(await this.filledFolder(), 'index.db'));
    return this.foundSubjects;
  }

  /** Runs a daemon on the filled index while `use` does, by default against the node. Waits until it is idle. */
  async withServingDaemon<T>(
    options: Partial<DaemonOptions>,
    use: (daemon: DaemonProcess) => Promise<T>,
  ): Promise<T> {
    const [dataDir, chain] = [await this.filledFolder(), await this.chain()];
    return this.withDaemon(
      { dataDir, nodeHttp: chain.url, nodeWs: '', cores: this.cores.server, ...options },
      async (daemon) => {
        await untilIdle(daemon.pid);
        return use(daemon);
      },
    );
  }

  /** Runs a daemon for the duration of `use`. */
  async withDaemon<T>(options: DaemonOptions, use: (daemon: DaemonProcess) => Promise<T>): Promise<T> {
    if (this.closed) throw new FatalError('the benchmark was broken off');
    const starting = startDaemonProcess(options);
    // Also ends the daemon when the run is aborted during its start. A daemon that fails to start has ended by itself.
    const end = () => starting.then((daemon) => daemon.stop()).catch(() => undefined);
    return this.withCleanup(async () => use(await starting), end);
  }

  /** Runs a worker for the duration of `use`. */
  async withWorker<N extends WorkerName, T>(
    name: N,
    cores: string | null,
    use: (worker: WorkerProcess<WorkerActions[N]>) => Promise<T>,
  ): Promise<T> {
    const worker = new WorkerProcess<WorkerActions[N]>(name, cores);
    return this.withCleanup(
      () => use(worker),
      () => worker.close(),
    );
  }

  /** Runs `use`, then calls `end`, or calls it at once when the run is aborted. */
  async withCleanup<T>(use: () => Promise<T>, end: () => Promise<void>): Promise<T> {
    this.running.add(end);
    try {
      return await use();
    } finally {
      this.running.delete(end);
      await end();
    }
  }

  /** Ends everything in reverse order of opening. */
  async close(): Promise<void> {
    this.closed = true;
    for (const end of [...this.running].reverse()) await end();
    await this.closers.close();
  }

  private async openChain(): Promise<ChainNode> {
    this.log(`generating a chain of ${formatNumber(this.options.transfers)} transfers and some more`);
    const worker = this.closers.adopt(new WorkerProcess<ChainNodeActions>('chain-node', null), (opened) =>
      opened.close(),
    );
    const facts = await worker.call('open', chainPlan(this.options));
    return { ...facts, worker };
  }

  private async fill(): Promise<string> {
    const chain = await this.chain();
    const dataDir = join(this.folder, 'data');
    this.log('filling an index');
    await fillIndex(this, chain, dataDir);
    return dataDir;
  }
}
