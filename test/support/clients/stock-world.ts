/** The gateway with the default tiers and waits, in front of a node that answers at once, for stock clients. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { configSchema } from '../../../src/config/schema.ts';
import { serve } from '../../server/serving.ts';
import type { Cleanup } from '../nodes/replay.ts';
import { balanceOf, type StockClient } from './stock-clients.ts';

const CALL = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) });

export interface Outcome {
  answered: number;
  wrong: number;
  seconds: number;
  /** The first error of a call that was not answered. */
  error: string | null;
}

export interface StockWorld {
  /** The address of /rpc with a new key of the tier. */
  urlFor(tier: string): string;
  /** Makes the client send this many calls at once with a new key. */
  run(client: StockClient, tier: string, count: number): Promise<Outcome>;
}

export async function startStockWorld(owner: Cleanup): Promise<StockWorld> {
  const { tiers, rpc, server: settings } = configSchema.parse({});
  const { server, access } = await serve(owner, {
    upstream: await startBalanceNode(owner),
    tiers,
    rateWaitMs: rpc.rate_wait_ms,
    rpc: { concurrency_per_key: rpc.concurrency_per_key },
    settings: { max_connections: settings.max_connections },
  });
  const urlFor = (tier: string) =>
    `${server.url}/rpc?api_key=${access.keys.create({ name: 'stock', tier }).key}`;
  return {
    urlFor,
    async run(client, tier, count) {
      const url = urlFor(tier);
      const startedAt = performance.now();
      const results = await client(url, count);
      const seconds = (performance.now() - startedAt) / 1000;
      const answered = results.filter(({ status }) => status === 'fulfilled').length;
      const wrong = results.filter(
        (result, i) =>
          result.status === 'fulfilled' && result.value !== balanceOf(`0x${(i + 1).toString(16)}`),
      ).length;
      const failure = results.find((result) => result.status === 'rejected');
      const error =
        failure === undefined ? null : String(failure.reason?.message ?? failure.reason).slice(0, 120);
      return { answered, wrong, seconds, error };
    },
  };
}

/** Answers for the chain id and balances. Returns its address. */
async function startBalanceNode(owner: Cleanup): Promise<string> {
  const node = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const { id, method, params } = CALL.parse(JSON.parse(body));
      const value = method === 'eth_getBalance' ? balanceOf(String(params[0])) : 143n;
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: `0x${value.toString(16)}` }));
    });
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  owner.after(() => {
    node.closeAllConnections();
    node.close();
  });
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
}
