/** Entry point of the delivery thread, which keeps reads for receivers and their answers off the serving thread. */
import { Labels } from '../labels/labels.ts';
import { messageOf } from '../lib/errors.ts';
import { SelectedNode } from '../node/choice/selected-node.ts';
import { RpcClient } from '../node/client.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { IndexSource } from '../streams/transfers/index-source.ts';
import { TransactionParties } from '../streams/transfers/transaction-parties.ts';
import { thread } from '../threads/thread.ts';
import { HookEngine } from './engine.ts';
import { openHookStore } from './hook-store.ts';
import type { HooksReport, HooksThreadOptions, ToHooks } from './hooks-client.ts';
import { Planner } from './planner.ts';
import { Sender } from './sender.ts';

/** How often to check for hook changes, milliseconds. */
const CHECK_MS = 250;
const REPORT_MS = 1_000;
/** Page cache of the connection to the index, MiB. */
const CACHE_MB = 8;
const MAX_SOCKETS = 2;

export default thread<HooksThreadOptions, ToHooks, HooksReport>(
  { niceness: 5 }, // clients waiting for an answer have priority
  async (options, { onMessage, post, log, stopped }) => {
    const { node, nativeSymbol } = options;
    const db = openIndexForReading(options.indexPath, { cacheMb: CACHE_MB });
    const store = openHookStore(options.hooksPath);
    const { addresses, inUse, ...limits } = node;
    const selected = new SelectedNode(addresses);
    selected.select(inUse, false);
    const client = new RpcClient({ url: selected, ...limits, maxSockets: MAX_SOCKETS });
    const parties = new TransactionParties(client);
    const labels = new Labels(options.labelsPath, (error) =>
      log.error({ reason: messageOf(error) }, 'labels.db cannot be read; deliveries carry no labels'),
    );
    const planner = new Planner({
      db,
      metadataWaitMs: options.metadataWaitMs,
      maxReorg: options.maxReorg,
      tradeLists: options.tradeLists,
      sourceOf: (reads) =>
        new IndexSource({
          reads,
          parties,
          chainInfo: { chainId: reads.chainId() ?? 0, nativeSymbol, labels, markOf: reads.markOf },
        }),
    });
    const sender = new Sender({ allowPrivate: options.allowPrivate });
    const engine = new HookEngine({ store, planner, sender, parties, log });
    const checks = setInterval(() => engine.wake(), CHECK_MS);
    const reports = setInterval(() => post(engine.takeReport()), REPORT_MS);
    onMessage((message) => {
      if (message.kind === 'changed') engine.wake();
      else selected.select(message.at, true);
    });
    engine.wake();

    await stopped;
    clearInterval(checks);
    clearInterval(reports);
    await engine.stop();
    await client.close();
    labels.close();
    store.close();
    db.close();
  },
);
