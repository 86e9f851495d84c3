/** Point lookups of one wallet at full speed, against a bare lookup in the same index. */
import { join } from 'node:path';
import type { Figure, Table } from '../figure.ts';
import { getRequest } from '../load/request.ts';
import {
  loadGeneratorName,
  measureAlternately,
  measureThroughput,
  type Throughput,
} from '../load/throughput.ts';
import { pinningText } from '../process/cores.ts';
import type { BenchContext } from '../setup/bench-context.ts';

/** Limits on the ratio to the bare server. */
const BUDGET = { floor: 0.5, goal: 0.75 };

const BARE = 'bare uWebSockets.js + SQLite lookup';

export async function measurePoints(context: BenchContext): Promise<Table[]> {
  const { wallets } = (await context.subjects()).ordinary;
  const indexPath = join(await context.filledFolder(), 'index.db');
  context.log('points: answers about one wallet against a bare lookup');
  const [bare = [], summary = [], latest = []] = await context.withServingDaemon({}, (daemon) =>
    context.withWorker('bare', context.cores.server, async (server) => {
      const barePort = await server.call('open', { indexPath });
      const rest = (endpoint: string) => () =>
        measureThroughput(context, {
          name: endpoint,
          pid: daemon.pid,
          port: daemon.port,
          requests: wallets.map((address) => getRequest(`/api/${endpoint}?address=${address}`, daemon.key)),
        });
      const lookup = () =>
        measureThroughput(context, {
          name: BARE,
          pid: server.pid,
          port: barePort,
          requests: wallets.map((address) => getRequest(`/lookup?address=${address}`)),
        });
      return measureAlternately(context.options.repeat, [
        lookup,
        rest('wallet_summary'),
        rest('latest_native_in'),
      ]);
    }),
  );
  return [
    {
      title: 'Point answers, 64 keep-alive connections, with key check, rate limit and counting',
      layout: 'list',
      figures: [
        ...figures('wallet_summary', summary, bare),
        ...figures('latest_native_in', latest, bare),
        ...figures(BARE, bare, null),
      ],
      notes: [`Load by ${await loadGeneratorName()}; ${pinningText(context.cores)}.`],
    },
  ];
}

function figures(
  name: string,
  measured: readonly Throughput[],
  bare: readonly Throughput[] | null,
): Figure[] {
  const rate = ({ requestsPerSecond }: Throughput) => requestsPerSecond;
  const cost = ({ microsecondsPerRequest }: Throughput) => microsecondsPerRequest;
  return [
    {
      name,
      unit: 'requests/s',
      samples: measured.map(rate),
      ...(bare && { against: { name: 'bare', samples: bare.map(rate) }, budget: BUDGET }),
    },
    {
      name: `${name}, processor time`,
      unit: 'us',
      samples: measured.map(cost),
      ...(bare && { against: { name: 'bare', samples: bare.map(cost) }, budget: BUDGET }),
    },
  ];
}
