/** Hooks on an index that the test writes, delivered in this thread to real receivers. */
import { join } from 'node:path';
import { HookEngine } from '../../src/hooks/engine.ts';
import { parseHookSpec } from '../../src/hooks/hook-spec.ts';
import { type Hook, type HookStore, openHookStore } from '../../src/hooks/hook-store.ts';
import { Planner } from '../../src/hooks/planner.ts';
import { Sender } from '../../src/hooks/sender.ts';
import type { LogFields } from '../../src/log/logger.ts';
import type { ConfiguredTradeLists } from '../../src/model/trade-rules.ts';
import type { RpcClient } from '../../src/node/client.ts';
import { IndexSource } from '../../src/streams/transfers/index-source.ts';
import { TransactionParties } from '../../src/streams/transfers/transaction-parties.ts';
import { CHAIN } from '../streams/filters.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { createIndex, type IndexFixture, type NamedBlock } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';

const FROM = `0x${'ab'.repeat(20)}`;

/** Knows every transaction. */
const NODE: Pick<RpcClient, 'batch'> = {
  batch: async (calls) => calls.map(() => ({ result: { from: FROM, to: FROM } })),
};

interface StartOptions {
  timeoutMs?: number;
  maxReorg?: number;
  metadataWaitMs?: number;
  node?: Pick<RpcClient, 'batch'>;
  tradeLists?: ConfiguredTradeLists;
}

export class HookWorld {
  readonly index: IndexFixture;
  readonly store: HookStore;
  readonly logged: { msg: string; fields: LogFields }[] = [];
  private readonly cleanup: Cleanup;
  private readonly path: string;
  /** The engine's connection to hooks.db. */
  delivering: HookStore | null = null;
  private engine: HookEngine | null = null;

  constructor(cleanup: Cleanup) {
    this.cleanup = cleanup;
    this.index = createIndex(cleanup);
    this.path = join(tempDir(cleanup), 'hooks.db');
    this.store = openHookStore(this.path);
    cleanup.after(async () => {
      await this.stop();
      this.store.close();
    });
  }

  /** Starts delivering. */
  start({
    timeoutMs = 60_000,
    maxReorg = 128,
    metadataWaitMs = 0,
    node = NODE,
    tradeLists = {},
  }: StartOptions = {}): void {
    const log = (fields: LogFields, msg: string) => void this.logged.push({ msg, fields });
    const store = openHookStore(this.path);
    this.delivering = store;
    const parties = new TransactionParties(node);
    const planner = new Planner({
      db: this.index.reader(this.cleanup),
      sourceOf: (reads) => new IndexSource({ reads, parties, chainInfo: { ...CHAIN, markOf: reads.markOf } }),
      metadataWaitMs,
      maxReorg,
      tradeLists,
    });
    const sender = new Sender({ allowPrivate: true, timeoutMs });
    this.engine = new HookEngine({
      store,
      planner,
      sender,
      parties,
      log: { info: log, warn: log, error: log },
    });
    this.engine.wake();
    this.onStop = () => store.close();
  }
  private onStop: () => void = () => undefined;

  /** Ends delivering, like a stop of the daemon. */
  async stop(): Promise<void> {
    const { engine } = this;
    this.engine = null;
    await engine?.stop();
    this.onStop();
    this.onStop = () => undefined;
  }

  wake(): void {
    this.engine?.wake();
  }

  /** Creates a hook for everything, with the given overrides. */
  hook(url: string, given: Record<string, unknown> = {}): Hook {
    const lists = (name: string) => this.store.lists.read(name);
    const spec = parseHookSpec({ url, ...given }, { lists, allowPrivate: true });
    const hook = this.store.create(spec, this.index.writer.head(), 0);
    this.wake();
    return hook;
  }

  append(blocks: readonly NamedBlock[], branch = ''): void {
    this.index.append(blocks, branch);
    this.wake();
  }

  /** Appends blocks in which Alice pays Bob this many times. */
  pay(blocks: number, { payments = 1, branch = '' } = {}): void {
    const head = this.index.writer.head()?.number ?? 0;
    this.append(
      Array.from({ length: blocks }, (_, i) => payBlock(head + 1 + i, payments, branch)),
      branch,
    );
  }

  rollBack(to: number): void {
    this.index.writer.rollback(to);
    this.wake();
  }
}

function payBlock(number: number, payments: number, branch: string): NamedBlock {
  return Object.fromEntries(
    Array.from({ length: payments }, (_, i) => [`${number} ${branch} ${i}`, [{ from: 'alice', to: 'bob' }]]),
  );
}
