/** How fast a replay of signals comes, compared with wallet_transfers of the same wallets over the same blocks. */
import type { Hex } from '../../../src/lib/hex.ts';
import type { Figure, Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import type { ReplayTimes } from '../workers/replay-client.ts';

/**
 * `started`: signals, as the first replay since the daemon's start, of other wallets than the next ones. Then, once
 * each kind was replayed, signals, transfers, and the same signals again.
 */
type Round = Record<SignalReplay | 'transfers', ReplayTimes>;
type SignalReplay = 'started' | 'first' | 'again';

export async function measureReplays(context: BenchContext): Promise<Table[]> {
  const { ordinary } = await context.subjects();
  // Wallets are sorted by age, and older ones have more transfers: every other one gives two equal halves.
  const half = (of: 0 | 1) => ordinary.wallets.filter((_, i) => i % 2 === of);
  const [wallets, others] = [half(0), half(1)];
  const rounds: Round[] = [];
  for (let round = 0; round < context.options.repeat; round++) {
    // A daemon of its own: what the node was asked for once is not asked for again.
    await context.withServingDaemon({}, async (daemon) => {
      context.log('replays: of wallet_transfers and of signals, in turn');
      const replay = (path: string, subscribe: string): Promise<ReplayTimes> =>
        context.withWorker('replay-client', context.cores.load, (worker) =>
          worker.call('replay', { url: urlOf(daemon, path), key: daemon.key, subscribe, pid: daemon.pid }),
        );
      const transfers = (of: readonly Hex[]) => replay('/ws', transfersCall(of));
      const signals = (of: readonly Hex[]) => replay('/ws/signals', signalsCall(of));
      const started = await signals(others);
      await transfers(others);
      rounds.push({
        started,
        first: await signals(wallets),
        transfers: await transfers(wallets),
        again: await signals(wallets),
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
  const against = { name: 'wallet_transfers', samples: rounds.map(({ transfers }) => rate(transfers)) };
  const figure = (name: string, of: SignalReplay): Figure => ({
    name,
    unit: 'messages/s',
    samples: rounds.map((round) => rate(round[of])),
    against,
    budget: { floor: 0.5, goal: 0.9 },
  });
  const cost = (of: keyof Round) => rounds.map((round) => (round[of].cpuSeconds / round[of].messages) * 1e6);
  const costFigure = (name: string, of: SignalReplay): Figure => ({
    name,
    unit: 'us',
    samples: cost(of),
    against: { name: 'wallet_transfers', samples: cost('transfers') },
  });
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
      figure('signals, first replay since the start', 'started'),
      figure('signals, first replay of their wallets', 'first'),
      figure('signals, second replay of their wallets', 'again'),
      costFigure('processor time of the event loop, since the start', 'started'),
      costFigure('processor time of the event loop, first of their wallets', 'first'),
      costFigure('processor time of the event loop, second of their wallets', 'again'),
    ],
    notes: [
      `${transfers.messages} transfers and ${first.messages} signals of ${wallets} wallets, of the whole chain. ` +
        `${unknown} signals had no sender.`,
    ],
  };
}
