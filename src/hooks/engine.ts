/**
 * Runs one loop per active hook. The loops share a connection to the index and take turns reading, so a slow receiver
 * delays no other hook. `HookStore` bounds the number of hooks, so each has its own connection to its receiver.
 */
import { retry, WakeablePause } from '../lib/async.ts';
import { RequestError, StorageError } from '../lib/errors.ts';
import type { ThreadLog } from '../log/logger.ts';
import { wantsTrades } from '../streams/transfers/signals.ts';
import type { TransactionParties } from '../streams/transfers/transaction-parties.ts';
import { readSignalFilter } from '../streams/transfers/transfer-filter.ts';
import type { Hook, HookStore } from './hook-store.ts';
import type { HooksReport } from './hooks-client.ts';
import { type CompiledFilter, type Planner, WatchSet } from './planner.ts';
import { HookRunner } from './runner.ts';
import type { Sender } from './sender.ts';

/** Delays while hooks.db cannot be written, milliseconds. */
const STORAGE_RETRY_MIN_MS = 1_000;
const STORAGE_RETRY_MAX_MS = 30_000;

interface EngineOptions {
  store: HookStore;
  planner: Planner;
  sender: Sender;
  parties: TransactionParties;
  log: ThreadLog;
}

export class HookEngine {
  private readonly options: EngineOptions;
  private readonly stopping = new AbortController();
  private readonly runners = new Map<number, { runner: HookRunner; ended: Promise<void> }>();
  private readonly pause = new WakeablePause();
  private readonly compiled = new Map<number, CompiledFilter & { text: string }>();
  /** Lists in use, shared by the hooks that name them. */
  private readonly lists = new Map<string, WatchSet>();
  private epoch = 0;
  private version: unknown;
  private report: HooksReport = emptyReport();

  constructor(options: EngineOptions) {
    this.options = options;
  }

  /** Call when the index has changed, and periodically, to notice changed hooks. */
  wake(): void {
    const { version } = this.options.store;
    if (version !== this.version) this.reload();
    this.version = version;
    this.pause.wake();
  }

  /** The events since the last call. */
  takeReport(): HooksReport {
    const { report } = this;
    this.report = emptyReport();
    return { ...report, lag: Math.max(0, ...[...this.runners.values()].map(({ runner }) => runner.lag)) };
  }

  /** Gives up deliveries in flight. The next start repeats them. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.runners.values()].map(({ ended }) => ended));
    this.options.sender.close();
  }

  /** Starts hooks that became active. Runners of other hooks end by themselves. */
  private reload(): void {
    this.compiled.clear(); // a list may have been reimported
    this.lists.clear();
    for (const { id, state } of this.options.store.list()) {
      if (state === 'active' && !this.runners.has(id)) this.start(id);
    }
  }

  private start(id: number): void {
    const runner = new HookRunner(
      id,
      {
        ...this.options,
        compile: (hook) => this.compile(hook),
        waitForChange: (ms) => this.pause.wait(ms, this.stopping.signal),
        onOutcome: (kind, events) => {
          this.report.outcomes[kind]++;
          if (kind === 'accepted') this.report.events += events;
        },
      },
      this.stopping.signal,
    );
    this.runners.set(id, { runner, ended: this.supervise(runner) });
  }

  /** Keeps a failure to its hook, so that the others continue. */
  private async supervise(runner: HookRunner): Promise<void> {
    const { id } = runner;
    await retry(() => runner.run(), {
      firstMs: STORAGE_RETRY_MIN_MS,
      longestMs: STORAGE_RETRY_MAX_MS,
      signal: this.stopping.signal,
      onFailure: (error, failures) => {
        if (!(error instanceof StorageError)) throw error;
        if (failures > 1) return;
        this.options.log.error({ hook: id, reason: error.message }, 'a webhook waits for its file');
      },
    }).catch((error: unknown) => this.pauseHook(id, error));
    this.runners.delete(id);
    this.version = undefined; // may be active again already
  }

  /** After an error that another run would only repeat. */
  private pauseHook(id: number, error: unknown): void {
    const { store, log } = this.options;
    if (!(error instanceof RequestError)) log.error({ hook: id, err: error }, 'a webhook failed');
    const reason = error instanceof RequestError ? error.message : 'internal error, see the log';
    try {
      if (store.find(id) !== undefined) store.pause(id, reason);
    } catch (err) {
      log.error({ hook: id, err }, 'a webhook that failed could not be paused');
    }
  }

  private compile(hook: Pick<Hook, 'id' | 'filter'>): CompiledFilter {
    this.forgetIdsAfterReorg();
    let compiled = this.compiled.get(hook.id);
    if (compiled?.text !== hook.filter) {
      compiled = { ...this.compileFilter(hook), text: hook.filter };
      this.compiled.set(hook.id, compiled);
    }
    return compiled;
  }

  private compileFilter({ filter: text }: Pick<Hook, 'filter'>): CompiledFilter {
    const named: WatchSet[] = [];
    const filter = readSignalFilter(JSON.parse(text), (name) => {
      const list = this.list(name);
      if (list !== undefined) named.push(list);
      return list?.addresses;
    });
    const set = (addresses: ReadonlySet<string>) => (addresses.size === 0 ? null : new WatchSet(addresses));
    const wallets = named[0] ?? set(filter.wallets);
    const isByToken = wallets === null && !wantsTrades(filter); // a trade may end with a transfer of any asset
    return { filter, wallets, contracts: isByToken ? set(filter.tokens) : null };
  }

  private list(name: string): WatchSet | undefined {
    let list = this.lists.get(name);
    const addresses = list === undefined ? this.options.store.lists.read(name) : undefined;
    if (addresses !== undefined) {
      list = new WatchSet(addresses);
      this.lists.set(name, list);
    }
    return list;
  }

  private forgetIdsAfterReorg(): void {
    const { epoch } = this.options.planner;
    if (epoch === this.epoch) return;
    this.epoch = epoch;
    for (const { wallets, contracts } of this.compiled.values()) {
      wallets?.forget();
      contracts?.forget();
    }
  }
}

function emptyReport(): HooksReport {
  return { outcomes: { accepted: 0, failed: 0, gone: 0 }, events: 0, lag: 0 };
}
