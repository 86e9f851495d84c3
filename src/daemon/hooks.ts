/** The daemon's webhooks: their file, their thread, and the panel's operations on them. */
import { join } from 'node:path';
import { configuredTradeLists } from '../config/configured-lists.ts';
import type { Config } from '../config/parse-config.ts';
import { IndexChain } from '../follower/index-chain.ts';
import { hookJson } from '../hooks/hook-json.ts';
import { parseHookChange, parseHookSpec } from '../hooks/hook-spec.ts';
import { type HookStore, openHookStore } from '../hooks/hook-store.ts';
import { HooksClient } from '../hooks/hooks-client.ts';
import type { AddressLists } from '../hooks/hooks-file.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import { RequestError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import { type Metrics, trackTotal } from '../metrics/metrics.ts';
import type { BlockRef } from '../model/block.ts';
import type { SelectedNode } from '../node/choice/selected-node.ts';
import type { AdminHooks } from '../server/admin/routes.ts';
import { rejectForeignWal } from '../store/wal.ts';
import type { DataStores } from './data-stores.ts';

/** Time for the thread to end, milliseconds: it gives up deliveries in flight. */
const HOOKS_STOP_MS = 6_000;

interface HookDeps {
  stores: DataStores;
  node: SelectedNode;
  metrics: Metrics;
  log: Logger;
}

export interface Hooks {
  store: HookStore;
  lists: AddressLists;
  /** Starts delivering. */
  start(head: () => BlockRef | null): HooksHandle;
}

export interface HooksHandle extends Omit<AdminHooks, 'lists'> {
  /** Call when the index has changed. */
  changed(): void;
  /** For `/status`. */
  summary(): { active: number; paused: number; failing: number; lagBlocks: number };
}

/** Throws FatalError when `hooks.db` is unusable. */
export function openHooks(
  config: Config,
  { stores, node, metrics, log }: HookDeps,
  closers: CleanupStack,
): Hooks {
  const path = join(config.data_dir, 'hooks.db');
  rejectForeignWal(path);
  const store = closers.adopt(openHookStore(path), (store) => store.close());
  const { lists } = store;
  const start = (head: () => BlockRef | null): HooksHandle => {
    let lagBlocks = 0;
    const totals = { deliveries: { accepted: 0, failed: 0, gone: 0 }, events: 0 };
    const client = closers.adopt(
      new HooksClient({
        store,
        thread: threadOptions(config, stores, path),
        node,
        limits: { timeoutMs: config.node.timeout_ms, maxBatch: config.node.batch },
        onReport({ outcomes, events, lag }) {
          lagBlocks = lag;
          totals.events += events;
          for (const kind of ['accepted', 'failed', 'gone'] as const)
            totals.deliveries[kind] += outcomes[kind];
        },
        log,
      }),
      (client, leftMs) => client.stop(Math.min(leftMs, HOOKS_STOP_MS)),
      'at once',
    );
    pauseHooksOfRevokedKeys(store, stores, closers);
    const chain = new IndexChain(stores.db, config.index.max_reorg);
    const context = { lists: lists.get, allowPrivate: config.hooks.allow_private };
    const summary = () => ({ ...store.counts(), lagBlocks });
    trackHooks(metrics, summary, totals);
    return {
      changed: () => client.changed(),
      summary,
      list: () => store.list().map(hookJson),
      create(body) {
        const spec = parseHookSpec(body, context);
        const limit = hookLimit(config, stores, spec.key);
        const { at, trail } = stores.db.transaction(() => {
          const at = head();
          return { at, trail: at && chain.trailBelow(at.number, at.number) };
        })(); // of one commit
        const hook = store.create(spec, at, limit, trail);
        client.check();
        log.info({ id: hook.id, name: hook.name }, 'operator created a webhook');
        return { ...hookJson(hook), secret: hook.secret };
      },
      update(id, body) {
        store.get(id);
        const hook = store.update(id, parseHookChange(body, context));
        client.changed();
        log.info({ id }, 'operator changed a webhook');
        return hookJson(hook);
      },
      rotate(id) {
        const hook = store.rotate(id);
        client.changed();
        log.info({ id }, 'operator gave a webhook a new secret');
        return { ...hookJson(hook), secret: hook.secret };
      },
      act(id, action) {
        const hook = actOn(store, id, action);
        client.check();
        client.changed();
        log.info({ id, action }, 'operator changed a webhook');
        return hookJson(hook);
      },
    };
  };
  return { store, lists, start };
}

/** Performs the action of a panel button. */
export function actOn(store: HookStore, id: number, action: 'pause' | 'resume' | 'test' | 'delete') {
  switch (action) {
    case 'pause':
      return store.pause(id, 'paused by the operator');
    case 'resume':
      return store.resume(id);
    case 'test':
      return store.requestTest(id);
    case 'delete':
      return store.delete(id);
  }
}

/** `max_hooks` of the key's tier, 0 for unlimited. Throws RequestError for an invalid key. */
function hookLimit({ tiers }: Config, { access }: DataStores, key: number | null): number {
  if (key === null) return 0;
  const record = [...access.keys.valid()].find(({ id }) => id === key);
  if (record === undefined) throw new RequestError(404, 'not_found', `there is no valid key ${key}`);
  return (tiers[record.tier] ?? tiers.free)?.max_hooks ?? 0;
}

function pauseHooksOfRevokedKeys(store: HookStore, { access }: DataStores, closers: CleanupStack): void {
  const pauseIfRevoked = (): void => {
    const valid = new Set([...access.keys.valid()].map(({ id }) => id));
    for (const { key } of store.list()) if (key !== null && !valid.has(key)) store.pauseOfKey(key);
  };
  pauseIfRevoked();
  closers.adopt(access.keys.onInvalidated(pauseIfRevoked), (unsubscribe) => unsubscribe());
}

function trackHooks(
  metrics: Metrics,
  summary: HooksHandle['summary'],
  totals: { deliveries: Record<string, number>; events: number },
): void {
  const deliveries = trackTotal(metrics.hookDeliveries);
  const events = trackTotal(metrics.hookEvents);
  metrics.onCollect(() => {
    const { active, paused, failing, lagBlocks } = summary();
    for (const [state, count] of Object.entries({ active, paused, failing }))
      metrics.hooks.set({ state }, count);
    metrics.hookLagBlocks.set(lagBlocks);
    for (const [outcome, total] of Object.entries(totals.deliveries)) deliveries(total, { outcome });
    events(totals.events, {});
  });
}

function threadOptions(config: Config, { indexPath, labelsPath }: DataStores, hooksPath: string) {
  const { chain, index, stream, hooks } = config;
  return {
    indexPath,
    hooksPath,
    labelsPath,
    nativeSymbol: chain.symbol,
    metadataWaitMs: stream.metadata_wait_ms,
    maxReorg: index.max_reorg,
    tradeLists: configuredTradeLists(config),
    allowPrivate: hooks.allow_private,
  };
}
