/** Two daemons behind nginx: one key's quota under load on both, and clients of a daemon that is killed. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, http, webSocket } from 'viem';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { keyOf, ResumingStream } from '../support/clients/resuming-stream.ts';
import { type ClusterDaemon, startClusterDaemon } from '../support/daemon/cluster-daemon.ts';
import { hasNginx, startNginx } from '../support/daemon/nginx.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { startPostgres } from '../support/sink/postgres.ts';
import { waitFor } from '../support/wait.ts';

const QUOTA = 300;
const FIRST_HEAD = 20;
const LAST_HEAD = 90;
const ADDRESS = `0x${'1'.repeat(40)}`;

interface Issued {
  id: number;
  key: string;
}

describe('two daemons with one set of keys', () => {
  const cleanup = suiteCleanup();
  let node: ReplayNode;
  let daemons: ClusterDaemon[] = [];
  let settings: Record<string, string> = {};

  before(async () => {
    ({ node } = await startGeneratedNode(
      cleanup,
      { seed: 7, blocks: LAST_HEAD, txPerBlock: 4, wallets: 30, tokens: 4 },
      { head: FIRST_HEAD },
    ));
    const server = await startPostgres(cleanup);
    settings = {
      ATLAS_NODE_HTTP: node.url,
      ATLAS_NODE_WS: node.wsUrl,
      ATLAS_ACCESS__POSTGRES: await server.createDatabase('cluster'),
      ATLAS_TIERS__FREE__REQUESTS_PER_MONTH: String(QUOTA),
      ATLAS_TIERS__FREE__REQUESTS_PER_SECOND: '0',
    };
    daemons = [await startClusterDaemon(cleanup, settings), await startClusterDaemon(cleanup, settings)];
    await Promise.all(daemons.map((daemon) => daemon.isReady()));
  });

  /** A key issued on the command line, valid on both daemons. */
  const issue = async (tier: string): Promise<Issued> => {
    const issued = await daemons[0]?.keys<Issued>('create', '--name', tier, '--tier', tier);
    if (issued === undefined) throw new Error('there is no daemon');
    for (const { url } of daemons) {
      const headers = { 'X-API-Key': issued.key };
      const isValid = async () => (await fetch(`${url}/api/chain_stats`, { headers })).status !== 401;
      await waitFor(isValid, { what: `the key at ${url}` });
    }
    return issued;
  };

  test('the quota of a free key holds over both daemons within two seconds of traffic', async (t) => {
    const { id, key } = await issue('free');
    const admitted: number[] = [];
    const load = async (url: string) => {
      for (;;) {
        const response = await fetch(`${url}/api/wallet_summary?address=${ADDRESS}`, {
          headers: { 'X-API-Key': key },
        });
        await response.text();
        if (response.status === 429) return;
        admitted.push(performance.now());
        await sleep(10);
      }
    };
    await Promise.all(daemons.map(({ url }) => load(url)));
    const before = 2; // by `issue`
    admitted.sort((a, b) => a - b);
    const reachedAt = admitted[QUOTA - before - 1] ?? Number.POSITIVE_INFINITY;
    const seconds = ((admitted.at(-1) ?? 0) - reachedAt) / 1000;
    assert.ok(admitted.length >= QUOTA - before, `only ${admitted.length} requests were admitted`);
    // One second on an idle machine.
    assert.ok(seconds < 4, `the quota was overrun for ${seconds} s, by ${admitted.length - QUOTA} requests`);

    t.diagnostic(`overrun for ${seconds.toFixed(2)} s, by ${admitted.length + before - QUOTA} requests`);
    const isCounted = async () => {
      const usage = await Promise.all(daemons.map((daemon) => usageOf(daemon, id)));
      return usage.every((requests) => requests === admitted.length + before);
    };
    await waitFor(isCounted, { what: `${admitted.length + before} requests on both` });
    // The command line reads the file, to which a daemon writes its counts every second.
    const isWritten = async () => {
      const usage = await daemons[1]?.keys<{ requests: number }[]>('usage', String(id));
      return usage?.[0]?.requests === admitted.length + before;
    };
    await waitFor(isWritten, { what: `${admitted.length + before} requests in "keys usage"` });
  });

  test('after a kill -9 of one daemon a viem client and a resuming stream reconnect without gaps or repeats', {
    skip: !hasNginx && 'left out: this machine has no nginx',
  }, async (t) => {
    const { url } = await startNginx(
      cleanup,
      daemons.map(({ port }) => port),
    );
    const { key } = await issue('unlimited');
    const viem = createPublicClient({
      transport: webSocket(`${url.replace('http', 'ws')}/ws?api_key=${key}`, {
        reconnect: { attempts: 100, delay: 50 },
      }),
    });
    const overHttp = createPublicClient({
      transport: http(`${url}/rpc`, { fetchOptions: { headers: { 'X-API-Key': key } } }),
    });
    const numbers: bigint[] = [];
    const unwatch = viem.watchBlockNumber({
      poll: true,
      pollingInterval: 20,
      emitMissed: true,
      emitOnBegin: true,
      onBlockNumber: (number) => numbers.push(number),
    });
    t.after(async () => {
      unwatch();
      (await viem.transport.getRpcClient()).close();
    });
    const stream = new ResumingStream(url, key, FIRST_HEAD + 1);
    t.after(() => stream.stop());
    await waitFor(() => numbers.length > 0 && stream.isOpen, { what: 'the clients' });

    const sockets = await Promise.all(daemons.map((daemon) => daemon.admin<{ total: number }>('sockets')));
    assert.deepEqual(sockets.map(({ total }) => total).sort(), [0, 2], 'one key, one daemon');
    const victim = daemons[sockets.findIndex(({ total }) => total > 0)];
    const survivor = daemons[sockets.findIndex(({ total }) => total === 0)];
    if (victim === undefined || survivor === undefined) throw new Error('there are two daemons');

    for (let head = FIRST_HEAD; head < LAST_HEAD; ) {
      head = node.mine();
      if (head === FIRST_HEAD + 25) await victim.end('SIGKILL');
      if (head === LAST_HEAD - 25) await victim.start();
      assert.equal(await overHttp.getChainId(), node.chainId);
      await sleep(20);
    }
    await waitFor(() => numbers.at(-1) === BigInt(LAST_HEAD), { what: 'the last block at viem' });
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => (numbers[0] ?? 0n) + BigInt(i)),
    );

    await waitFor(async () => (await fetch(`${survivor.url}/status`)).status === 200, {
      what: 'the survivor',
    });
    const whole = new ResumingStream(survivor.url, key, FIRST_HEAD + 1);
    t.after(() => whole.stop());
    const isComplete = ({ events }: ResumingStream) => events.at(-1)?.blockNumber === LAST_HEAD;
    await waitFor(() => isComplete(whole) && isComplete(stream), { what: 'the last event' });
    await waitFor(() => stream.events.length === whole.events.length, { what: 'all events' });
    assert.deepEqual(stream.events.map(keyOf), whole.events.map(keyOf));
    assert.ok(stream.connections >= 2 && whole.connections === 1);
    await victim.isReady();
  });
});

async function usageOf(daemon: ClusterDaemon, id: number): Promise<number | undefined> {
  const { keys } = await daemon.admin<{ keys: { id: number; requestsThisMonth: number }[] }>('keys');
  return keys.find((key) => key.id === id)?.requestsThisMonth;
}
