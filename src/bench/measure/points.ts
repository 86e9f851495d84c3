/** Point lookups of one wallet at full speed, against a bare lookup in the same index. */
import { join } from 'node:path';
import type { Figure, Table } from '../figure.ts';
import { getRequest } from '../load/request.ts';
import { inTurn, loadTool, measureThroughput, type Throughput } from '../load/throughput.ts';
import { sharing } from '../process/cores.ts';
import type { Stage } from '../stage/stage.ts';

/** Limits on the ratio to the bare server. */
const BUDGET = { floor: 0.5, goal: 0.75 };

const BARE = 'bare uWebSockets.js + SQLite lookup';

export async function measurePoints(stage: Stage): Promise<Table[]> {
  const { wallets } = (await stage.keys()).ordinary;
  const indexPath = join(await stage.filledFolder(), 'index.db');
  stage.log('points: answers about one wallet against a bare lookup');
  const [bare = [], summary = [], latest = []] = await stage.serve({}, (daemon) =>
    stage.with('bare', stage.cores.server, async (server) => {
      const barePort = await server.ask('open', { indexPath });
      const rest = (endpoint: string) => () =>
        measureThroughput(stage, {
          name: endpoint,
          pid: daemon.pid,
          port: daemon.port,
          requests: wallets.map((address) => getRequest(`/api/${endpoint}?address=${address}`, daemon.key)),
        });
      const lookup = () =>
        measureThroughput(stage, {
          name: BARE,
          pid: server.pid,
          port: barePort,
          requests: wallets.map((address) => getRequest(`/lookup?address=${address}`)),
        });
      return inTurn(stage.options.repeat, [lookup, rest('wallet_summary'), rest('latest_native_in')]);
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
      notes: [`Load by ${await loadTool()}; ${sharing(stage.cores)}.`],
    },
  ];
}

function figures(name: string, own: readonly Throughput[], bare: readonly Throughput[] | null): Figure[] {
  const rate = ({ requestsPerSecond }: Throughput) => requestsPerSecond;
  const cost = ({ microsecondsPerRequest }: Throughput) => microsecondsPerRequest;
  return [
    {
      name,
      unit: 'requests/s',
      samples: own.map(rate),
      ...(bare && { against: { name: 'bare', samples: bare.map(rate) }, budget: BUDGET }),
    },
    {
      name: `${name}, processor time`,
      unit: 'us',
      samples: own.map(cost),
      ...(bare && { against: { name: 'bare', samples: bare.map(cost) }, budget: BUDGET }),
    },
  ];
}
