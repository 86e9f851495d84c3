/** How fast a replay of signals comes, compared with wallet_transfers of the same wallets over the same blocks. */
import type { Hex } from '../../../src/lib/hex.ts';
import type { Figure, Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import type { ReplayTimes } from '../workers/replay-client.ts';

/**
 * `startedTransfers` and `started`: each as the first replay since its daemon's start, of other wallets than the next
 * ones. Then, with compiled code, signals, transfers, and the same signals again.
 */
type Round = Record<'startedTransfers' | 'started' | 'first' | 'transfers' | 'again', ReplayTimes>;

export async function measureReplays(context: BenchContext): Promise<Table[]> {
  const { ordinary } = await context.subjects();
  // Wallets are sorted by age, and older ones have more transfers: every other one gives two equal halves.
  const half = (of: 0 | 1) => ordinary.wallets.filter((_, i) => i % 2 === of);
  const [wallets, others] = [half(0), half(1)];
  const rounds: Round[] = [];
  const replay = (daemon: DaemonProcess, path: string, subscribe: string): Promise<ReplayTimes> =>
    context.withWorker('replay-client', context.cores.load, (worker) =>
      worker.call('replay', { url: urlOf(daemon, path), key: daemon.key, subscribe, pid: daemon.pid }),
    );
  const transfers = (daemon: DaemonProcess, of: readonly Hex[]) => replay(daemon, '/ws', transfersCall(of));
  const signals = (daemon: DaemonProcess, of: readonly Hex[]) =>
    replay(daemon, '/ws/signals', signalsCall(of));
  for (let round = 0; round < context.options.repeat; round++) {
    context.log('replays: of wallet_transfers and of signals, in turn');
    const startedTransfers = await context.withServingDaemon({}, (daemon) => transfers(daemon, others));
    // A daemon of its own: what the node was asked for once is not asked for again.
    await context.withServingDaemon({}, async (daemon) => {
      const started = await signals(daemon, others);
      // Once more, so that code is compiled when the wallets of the next rows come for the first time.
      await transfers(daemon, others);
      await signals(daemon, others);
      rounds.push({
        startedTransfers,
        started,
        first: await signals(daemon, wallets),
        transfers: await transfers(daemon, wallets),
        again: await signals(daemon, wallets),
      });
    });
  }
  return [table(rounds, wallets.length)];
}

function urlOf({ url }: DaemonProcess, path: string): string {
  return url.replace('http', 'ws') + path;
}

function transfersCall(addresses: readonly Hex[]): string {
  return call('eth_subscribe', ['wallet_transfers', { addresses, fromBlock: 0, progress: true }]);
}

function signalsCall(wallets: readonly Hex[]): string {
  return call('atlas_subscribe', { wallets, fromBlock: 0, progress: true });
}

function call(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function table(rounds: readonly Round[], wallets: number): Table {
  const rate = ({ messages, seconds }: ReplayTimes) => messages / seconds;
  const cost = ({ messages, cpuSeconds }: ReplayTimes) => (cpuSeconds / messages) * 1e6;
  const samples = (of: keyof Round, value: (times: ReplayTimes) => number) =>
    rounds.map((round) => value(round[of]));
  const against = (of: keyof Round, value: (times: ReplayTimes) => number) => ({
    name: 'wallet_transfers',
    samples: samples(of, value),
  });
  const figures = (name: string, of: keyof Round, transfers: keyof Round): Figure[] => [
    {
      name: `signals, ${name}`,
      unit: 'messages/s',
      samples: samples(of, rate),
      against: against(transfers, rate),
      budget: { floor: 0.5, goal: 0.9 },
    },
    {
      name: `processor time of the event loop, ${name}`,
      unit: 'us',
      samples: samples(of, cost),
      against: against(transfers, cost),
    },
  ];
  const unknown = rounds.reduce(
    (sum, { started, first, again }) =>
      sum + started.unknownSenders + first.unknownSenders + again.unknownSenders,
    0,
  );
  const [{ transfers, first } = { transfers: { messages: 0 }, first: { messages: 0 } }] = rounds;
  return {
    title: 'Replays',
    layout: 'list',
    figures: [
      ...figures('first replay since the start, as wallet_transfers', 'started', 'startedTransfers'),
      ...figures('first replay of their wallets', 'first', 'transfers'),
      ...figures('second replay of their wallets', 'again', 'transfers'),
    ],
    notes: [
      `${transfers.messages} transfers and ${first.messages} signals of ${wallets} wallets, of the whole chain. ` +
        `${unknown} signals had no sender.`,
    ],
  };
}
