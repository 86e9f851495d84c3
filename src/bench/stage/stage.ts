/** What measurements share: the chain and its node, the filled index, and the processes under measurement. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grouped } from '../../cli/table.ts';
import { FatalError } from '../../errors.ts';
import { Closers } from '../../lib/closers.ts';
import { removeWithThisProcess } from '../../lib/watchdog.ts';
import type { BenchOptions } from '../options.ts';
import type { ChainFacts, ChainNodeActions } from '../parts/chain-node.ts';
import type { PartName, Parts } from '../parts/parts.ts';
import { type Cores, chooseCores } from '../process/cores.ts';
import { Part } from '../process/part.ts';
import { type DaemonOptions, type DaemonProcess, startDaemonProcess } from './daemon.ts';
import { fillIndex } from './fill.ts';
import { findKeys, type Keys } from './keys.ts';
import { chainPlan } from './plan.ts';

export interface ChainNode extends ChainFacts {
  part: Part<ChainNodeActions>;
}

/** Opens each thing when it is first asked for; `close` ends and removes all of them. */
export class Stage {
  readonly options: BenchOptions;
  readonly cores: Cores;
  /** A temporary folder. */
  readonly folder: string;
  /** Reports what is being done. */
  readonly log: (text: string) => void;
  private readonly closers = new Closers();
  /** What is running and must be ended when the run is aborted. */
  private readonly running = new Set<() => Promise<void>>();
  private closed = false;
  private chainNode: Promise<ChainNode> | undefined;
  private index: Promise<string> | undefined;
  private foundKeys: Keys | undefined;

  static async open(options: BenchOptions, log: (text: string) => void): Promise<Stage> {
    return new Stage(options, log, await chooseCores());
  }

  private constructor(options: BenchOptions, log: (text: string) => void, cores: Cores) {
    this.options = options;
    this.log = log;
    this.cores = cores;
    this.folder = mkdtempSync(join(tmpdir(), 'atlas-bench-'));
    removeWithThisProcess(this.folder);
    this.closers.keep(this.folder, (folder) => rmSync(folder, { recursive: true, force: true }));
  }

  /** The chain's node. */
  chain(): Promise<ChainNode> {
    this.chainNode ??= this.openChain();
    return this.chainNode;
  }

  /** The data folder of an index that holds the first segment of the chain at least; no daemon runs on it. */
  filledFolder(): Promise<string> {
    this.index ??= this.fill();
    return this.index;
  }

  /** Makes `filledFolder` return a data folder that was just filled. */
  adopt(dataDir: string): void {
    this.index = Promise.resolve(dataDir);
  }

  /** Wallets and tokens of the filled index. */
  async keys(): Promise<Keys> {
    this.foundKeys ??= findKeys(join(await this.filledFolder(), 'index.db'));
    return this.foundKeys;
  }

  /** Runs a daemon on the filled index, against the node unless told otherwise, while `use` lasts. */
  async serve<T>(options: Partial<DaemonOptions>, use: (daemon: DaemonProcess) => Promise<T>): Promise<T> {
    const [dataDir, chain] = [await this.filledFolder(), await this.chain()];
    return this.run({ dataDir, nodeHttp: chain.url, nodeWs: '', cores: this.cores.server, ...options }, use);
  }

  /** Runs a daemon while `use` lasts. */
  async run<T>(options: DaemonOptions, use: (daemon: DaemonProcess) => Promise<T>): Promise<T> {
    if (this.closed) throw new FatalError('the benchmark was broken off');
    const starting = startDaemonProcess(options);
    // Also ends it when the run is aborted while it starts. One that fails to start has ended by itself.
    const end = () => starting.then((daemon) => daemon.stop()).catch(() => undefined);
    return this.whileRunning(async () => use(await starting), end);
  }

  /** Runs a part of the benchmark in a process of its own while `use` lasts. */
  async with<N extends PartName, T>(
    name: N,
    cores: string | null,
    use: (part: Part<Parts[N]>) => Promise<T>,
  ): Promise<T> {
    const part = new Part<Parts[N]>(name, cores);
    return this.whileRunning(
      () => use(part),
      () => part.close(),
    );
  }

  /** Runs `use`, then calls `end`, or calls it at once when the run is aborted. */
  async whileRunning<T>(use: () => Promise<T>, end: () => Promise<void>): Promise<T> {
    this.running.add(end);
    try {
      return await use();
    } finally {
      this.running.delete(end);
      await end();
    }
  }

  /** Ends everything in the reverse order of its opening. */
  async close(): Promise<void> {
    this.closed = true;
    for (const end of [...this.running].reverse()) await end();
    await this.closers.close();
  }

  private async openChain(): Promise<ChainNode> {
    this.log(`generating a chain of ${grouped(this.options.transfers)} transfers and some more`);
    const part = this.closers.keep(new Part<ChainNodeActions>('chain-node', null), (opened) =>
      opened.close(),
    );
    const facts = await part.ask('open', chainPlan(this.options));
    return { ...facts, part };
  }

  private async fill(): Promise<string> {
    const chain = await this.chain();
    const dataDir = join(this.folder, 'data');
    this.log('filling an index');
    await fillIndex(this, chain, dataDir);
    return dataDir;
  }
}
