/** `/rpc` calls that the daemon answers itself or from its cache, compared with direct calls to a real node. */
import { join } from 'node:path';
import { type Anvil, startAnvil } from '../../../src/dev/anvil.ts';
import { FatalError } from '../../../src/lib/errors.ts';
import type { Figure, Table } from '../figure.ts';
import { postRequest } from '../load/request.ts';
import { measureAlternately, measureThroughput, type Throughput } from '../load/throughput.ts';
import { pin } from '../process/cores.ts';
import type { BenchContext } from '../setup/bench-context.ts';

/**
 * Transactions in the requested block. anvil recovers each sender every time, so a fuller block would only flatter the
 * daemon.
 */
const TRANSACTIONS = 9;
/** Blocks on top of it, so that it counts as final: more than `index.max_reorg`. */
const CONFIRMATIONS = 140;
const SYNC_TIMEOUT_MS = 60_000;

export async function measureLocalAnswers(context: BenchContext): Promise<Table[]> {
  context.log('rpc: answers that need no node, against anvil asked directly');
  const anvil = await startAnvil({ manual: true }).catch((error: unknown) => {
    if (!(error instanceof FatalError)) throw error;
    context.log(`rpc: left out, ${error.message}`);
    return null;
  });
  if (anvil === null) return [];
  return context.withCleanup(
    async () => [await measureAgainst(context, anvil)],
    () => anvil.stop(),
  );
}

async function measureAgainst(context: BenchContext, anvil: Anvil): Promise<Table> {
  const block = await mineFullBlock(anvil);
  const head = Number(await anvil.call('eth_blockNumber'));
  await pin(anvil.pid, context.cores.server);
  const options = {
    dataDir: join(context.folder, 'anvil-data'),
    nodeHttp: anvil.url,
    nodeWs: anvil.wsUrl,
    cores: context.cores.server,
  };
  return context.withDaemon(options, async (daemon) => {
    await daemon.waitForBlock(head, SYNC_TIMEOUT_MS);
    const call = (method: string, params: unknown[]) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const both = (body: string) =>
      measureAlternately(context.options.repeat, [
        () =>
          measureThroughput(context, {
            name: 'the gateway',
            pid: daemon.pid,
            port: daemon.port,
            requests: [postRequest('/rpc', body, daemon.key)],
          }),
        () =>
          measureThroughput(context, {
            name: 'anvil',
            pid: anvil.pid,
            port: Number(new URL(anvil.url).port),
            requests: [postRequest('/', body)],
          }),
      ]);
    const height = await both(call('eth_blockNumber', []));
    const full = await both(call('eth_getBlockByNumber', [block, true]));
    return {
      title: '/rpc: answers that need no node, against anvil asked directly',
      layout: 'list',
      figures: [
        figure('eth_blockNumber', height, 0.8, 1),
        figure(`a finalized block of ${TRANSACTIONS} transactions`, full, 10, 30),
      ],
      notes: ['64 connections; the one that is not loaded is idle on the same core.'],
    };
  });
}

/** Mines a block of plain transfers and some on top. Resolves with its number as a quantity. */
async function mineFullBlock(anvil: Anvil): Promise<string> {
  const accounts = await anvil.call('eth_accounts');
  if (!Array.isArray(accounts)) throw new Error('anvil has no accounts');
  const [from, to]: unknown[] = accounts;
  for (let i = 0; i < TRANSACTIONS; i++) {
    await anvil.call('eth_sendTransaction', [{ from, to, value: '0x1', gas: '0x5208' }]);
  }
  await anvil.call('evm_mine');
  const number = await anvil.call('eth_blockNumber');
  if (typeof number !== 'string') throw new Error('anvil has no block number');
  await anvil.call('anvil_mine', [`0x${CONFIRMATIONS.toString(16)}`]);
  return number;
}

function figure(
  name: string,
  [gateway = [], node = []]: Throughput[][],
  floor: number,
  goal: number,
): Figure {
  const rates = (results: Throughput[]) => results.map(({ requestsPerSecond }) => requestsPerSecond);
  return {
    name,
    unit: 'requests/s',
    samples: rates(gateway),
    against: { name: 'anvil', samples: rates(node) },
    budget: { floor, goal },
  };
}
