/** logs and chainLogs through the whole daemon, compared with eth_getLogs at the node. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import type { ReplayNode } from '../../../scripts/simulator/replay/controls.ts';
import { startTestDaemon, type TestDaemon } from '../../support/daemon/daemon.ts';
import { type MisbehavingNode, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { resultOf, startGeneratedNode, suiteCleanup } from '../../support/nodes/replay.ts';
import { waitFor } from '../../support/wait.ts';
import { type Received, StreamClient } from '../client.ts';

interface Log {
  address: string;
  topics: string[];
  blockNumber: string;
  blockHash: string;
  logIndex: string;
  removed?: boolean;
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const NOBODY = `0x${'12'.repeat(20)}`;
const NOTHING = `0x${'34'.repeat(32)}`;

suite('logs', () => {
  const owner = suiteCleanup();
  let node: ReplayNode;
  let between: MisbehavingNode;
  let served: TestDaemon;

  before(async () => {
    ({ node } = await startGeneratedNode(
      owner,
      { blocks: 400, txPerBlock: 12, startBlock: 1 },
      { head: 20 },
    ));
    between = await startMisbehavingNode({ upstream: node.url });
    owner.after(() => between.close());
    served = await startTestDaemon(owner, {
      flags: { '--node-http': node.url, '--node-ws': between.wsUrl },
    });
  });

  const open = () => StreamClient.open(owner, served.url, served.key);

  /** The node's logs of blocks `from .. to`. */
  const answered = (filter: object, from: number, to: number) =>
    resultOf<Log[]>(node.url, 'eth_getLogs', { ...filter, fromBlock: hex(from), toBlock: hex(to) });

  /** Waits until the subscription has as many logs as expected and compares them. */
  const receives = async (feed: Received<Log>, expected: Log[]) => {
    await waitFor(() => feed.results.length >= expected.length, {
      what: `${expected.length} logs; got ${feed.results.length}`,
    });
    assert.deepEqual(feed.results, expected);
  };

  test('every kind of filter matches exactly what eth_getLogs of the node matches', async () => {
    const [sample] = await answered({ topics: [TRANSFER] }, 1, 20);
    assert.ok(sample);
    const [, sender, receiver] = sample.topics;
    const filters: object[] = [
      {},
      { address: sample.address.toUpperCase().replace('0X', '0x') },
      { address: [sample.address, NOBODY] },
      { address: [] },
      { topics: [] },
      { topics: [TRANSFER] },
      { topics: [null] },
      { topics: [null, null, null, null] },
      { topics: [[TRANSFER, NOTHING]] },
      { topics: [[], null, [receiver, NOTHING]] },
      { topics: [null, sender] },
      { topics: [[TRANSFER, null]] },
      { address: sample.address, topics: [TRANSFER, null, [receiver, NOTHING]] },
      { address: NOBODY, topics: [TRANSFER] },
      { topics: [NOTHING] },
    ];
    const clients = await Promise.all([open(), open()]);
    const feeds = await Promise.all(
      filters.map((filter, i) => clients[i % 2]!.subscribe<Log>('logs', filter)),
    );
    const all = await clients[1]!.subscribe<Log>('logs');
    node.mine(40);
    for (const [i, filter] of filters.entries()) {
      // The simulated node takes a null among alternatives literally, and like geth wants a topic for each trailing
      // null.
      const plain =
        JSON.stringify(filter).endsWith('null]]}') || JSON.stringify(filter).endsWith('null,null]}');
      await receives(feeds[i]!, await answered(plain ? {} : filter, 21, 60));
    }
    await receives(all, await answered({}, 21, 60));
    assert.ok(all.results.length > 200, `the chain is busy enough: ${all.results.length} logs`);
    assert.equal(feeds.at(-1)?.results.length, 0);
    for (const client of clients) client.socket.close();
  });

  test('logs of removed blocks are sent as removed, oldest block first, then those of the new blocks', async () => {
    const client = await open();
    const feed = await client.subscribe<Log>('logs', { topics: [TRANSFER] });
    node.mine(3);
    const old = await answered({ topics: [TRANSFER] }, 61, 63);
    await waitFor(() => feed.results.length === old.length, { what: 'the logs of three blocks' });
    node.fork(62);
    const replaced = old.filter(({ blockNumber }) => Number(blockNumber) >= 62);
    assert.ok(new Set(replaced.map(({ blockNumber }) => blockNumber)).size === 2, 'both blocks have logs');
    const anew = await answered({ topics: [TRANSFER] }, 62, 63);
    await receives(feed, [...old, ...replaced.map((log) => ({ ...log, removed: true })), ...anew]);
    client.socket.close();
  });

  test('a client that subscribed after a block does not get its logs as removed', async () => {
    const early = await open();
    const first = await early.subscribe<Log>('logs', {});
    node.mine(1);
    const old = await answered({}, 64, 64);
    await waitFor(() => first.results.length === old.length, { what: 'the logs of a block' });
    const late = await open();
    const second = await late.subscribe<Log>('logs', {});
    node.fork(64);
    const anew = await answered({}, 64, 64);
    await receives(first, [...old, ...old.map((log) => ({ ...log, removed: true })), ...anew]);
    await receives(second, anew);
    early.socket.close();
    late.socket.close();
  });

  test('no log is missed or sent twice while the connection to the node keeps breaking', async () => {
    const client = await open();
    const feed = await client.subscribe<Log>('logs', {});
    const chain = await client.subscribe<Log>('chainLogs', {});
    const from = node.stats().head + 1;
    for (let round = 0; round < 6; round++) {
      node.mine(4);
      between.drop();
      node.mine(16);
      const expected = await answered({}, from, node.stats().head);
      await waitFor(() => feed.results.length >= expected.length, { what: `the logs of round ${round}` });
    }
    const expected = await answered({}, from, node.stats().head);
    assert.deepEqual(feed.results, expected);
    await receives(chain, expected);
    client.socket.close();
  });

  test('an unsubscribed filter gets no more logs, and others continue', async () => {
    const client = await open();
    const [one, other] = [await client.subscribe<Log>('logs', {}), await client.subscribe<Log>('logs', {})];
    const from = node.stats().head + 1;
    node.mine(1);
    const block = await answered({}, from, from);
    await receives(one, block);
    assert.equal(await client.call('eth_unsubscribe', one.id), true);
    node.mine(2);
    await receives(other, await answered({}, from, from + 2));
    assert.deepEqual(one.results, block);
    await assert.rejects(client.call('eth_unsubscribe', one.id), { code: -32000 });
    client.socket.close();
  });

  test('fromBlock and toBlock bound the logs of a subscription', async () => {
    const client = await open();
    const head = node.stats().head;
    const feed = await client.subscribe<Log>('logs', { fromBlock: hex(head + 3), toBlock: hex(head + 5) });
    const end = await client.subscribe<Log>('logs', { fromBlock: hex(head + 8) });
    node.mine(8);
    await receives(end, await answered({}, head + 8, head + 8));
    await receives(feed, await answered({}, head + 3, head + 5));
    client.socket.close();
  });
});

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
