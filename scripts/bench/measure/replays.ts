/** How fast a replay of signals comes, compared with wallet_transfers of the same wallets over the same blocks. */
import type { Hex } from '../../../src/lib/hex.ts';
import type { Figure, Table } from '../figure.ts';
import { mainThreadSeconds } from '../process/resource-usage.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import type { ReplayTimes } from '../workers/replay-client.ts';

const WALLETS = 500;

interface Replay extends ReplayTimes {
  /** Processor time of the daemon's event loop. */
  cpuSeconds: number;
}

/** One replay of wallet_transfers, and two of signals: the first reads senders that no other client has asked for. */
type Round = Record<'transfers' | 'first' | 'again', Replay>;

export async function measureReplays(context: BenchContext): Promise<Table[]> {
  const { ordinary } = await context.subjects();
  const [wallets, others] = [
    ordinary.wallets.slice(0, WALLETS),
    ordinary.wallets.slice(WALLETS, 2 * WALLETS),
  ];
  const rounds: Round[] = [];
  for (let round = 0; round < context.options.repeat; round++) {
    // A daemon of its own: what the node was asked for once is not asked for again.
    await context.withServingDaemon({}, async (daemon) => {
      context.log('replays: of wallet_transfers and of signals, in turn');
      const replay = (path: string, subscribe: string): Promise<Replay> =>
        context.withWorker('replay-client', context.cores.load, async (worker) => {
          const before = mainThreadSeconds(daemon.pid);
          const times = await worker.call('replay', { url: urlOf(daemon, path), key: daemon.key, subscribe });
          return { ...times, cpuSeconds: mainThreadSeconds(daemon.pid) - before };
        });
      const transfers = () => replay('/ws', transfersCall(wallets));
      const signals = () => replay('/ws/signals', signalsCall(wallets));
      // Compiles the code, and reads the index into memory.
      await replay('/ws/signals', signalsCall(others));
      await transfers();
      rounds.push({ first: await signals(), transfers: await transfers(), again: await signals() });
    });
  }
  return [table(rounds)];
}

function urlOf({ url }: DaemonProcess, path: string): string {
  return url.replace('http', 'ws') + path;
}

function transfersCall(addresses: readonly Hex[]): string {
  return call('eth_subscribe', ['wallet_transfers', { addresses, fromBlock: 0 }]);
}

function signalsCall(wallets: readonly Hex[]): string {
  return call('atlas_subscribe', { wallets, fromBlock: 0 });
}

function call(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function table(rounds: readonly Round[]): Table {
  const rate = ({ messages, seconds }: ReplayTimes) => messages / seconds;
  const against = { name: 'wallet_transfers', samples: rounds.map(({ transfers }) => rate(transfers)) };
  const figure = (name: string, of: 'first' | 'again'): Figure => ({
    name,
    unit: 'messages/s',
    samples: rounds.map((round) => rate(round[of])),
    against,
    budget: { floor: 0.5, goal: 0.9 },
  });
  const cost = (of: 'first' | 'again' | 'transfers') =>
    rounds.map((round) => (round[of].cpuSeconds / round[of].messages) * 1e6);
  const costFigure = (name: string, of: 'first' | 'again'): Figure => ({
    name,
    unit: 'us',
    samples: cost(of),
    against: { name: 'wallet_transfers', samples: cost('transfers') },
  });
  const unknown = rounds.reduce(
    (sum, { first, again }) => sum + first.unknownSenders + again.unknownSenders,
    0,
  );
  const [{ transfers, first } = { transfers: { messages: 0 }, first: { messages: 0 } }] = rounds;
  return {
    title: 'Replays',
    layout: 'list',
    figures: [
      figure('signals, first replay', 'first'),
      figure('signals, second replay', 'again'),
      costFigure('processor time of the event loop, first replay', 'first'),
      costFigure('processor time of the event loop, second replay', 'again'),
    ],
    notes: [
      `${transfers.messages} transfers and ${first.messages} signals of ${WALLETS} wallets, of the whole chain. ` +
        `${unknown} signals had no sender.`,
    ],
  };
}
