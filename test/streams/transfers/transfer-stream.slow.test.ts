/** wallet_transfers and signals through the whole daemon, compared with REST. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { GeneratedBlock } from '../../../scripts/simulator/chain/block.ts';
import type { ReplayNode } from '../../../scripts/simulator/replay/controls.ts';
import { Prng } from '../../../src/lib/random.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import type { Db } from '../../../src/store/open-database.ts';
import { startTestDaemon, type TestDaemon } from '../../support/daemon/daemon.ts';
import { resultOf, startGeneratedNode, suiteCleanup } from '../../support/nodes/replay.ts';
import { waitFor } from '../../support/wait.ts';
import { type Received, StreamClient } from '../client.ts';
import { asRecord, isSignal, remaining, type StreamedTransfer, transfersOf } from '../record.ts';

interface Signal extends StreamedTransfer {
  event: string;
  wallet: string;
}

const ZERO = `0x${'0'.repeat(40)}`;

/** The 20 most frequent addresses, the most frequent first. */
function busiest(addresses: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const address of addresses) times.set(address, (times.get(address) ?? 0) + 1);
  const ranked = [...times].sort(([, a], [, b]) => b - a);
  return ranked.slice(0, 20).map(([address]) => address);
}

suite('transfers', () => {
  const owner = suiteCleanup();
  let node: ReplayNode;
  let served: TestDaemon;
  let blocks: GeneratedBlock[];
  let wallets: string[];
  let db: Db;
  /** The one with the most transfers. */
  let token: string;

  before(async () => {
    const chain = { blocks: 500, txPerBlock: 10, startBlock: 1, wallets: 40, tokens: 12 };
    ({ node, blocks } = await startGeneratedNode(owner, chain, { head: 100, finalizedLag: 64 }));
    served = await startTestDaemon(owner, {
      flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
      env: { ATLAS_STREAM__MAX_CONNECTIONS_PER_KEY: '1000', ATLAS_STREAM__MAX_SUBSCRIPTIONS: '1000' },
    });
    await served.reaches(100);
    db = openIndexForReading(join(served.dataDir, 'index.db'));
    owner.after(() => void db.close());
    const transfers = blocks.flatMap((block) => block.transfers);
    token = busiest(transfers.flatMap((row) => row.token ?? []))[0]!;
    wallets = busiest(transfers.flatMap(({ from, to }) => [from, to])).filter((address) => address !== ZERO);
  });

  const open = (path?: string) => StreamClient.open(owner, served.url, served.key, path);
  /** Waits until the index and the node have the same last block. */
  const caughtUp = async () => {
    const { hash } = await resultOf<{ hash: string }>(node.url, 'eth_getBlockByNumber', 'latest', false);
    await waitFor(() => lastHash(db) === hash, {
      what: `block ${hash} in the index`,
      everyMs: 5,
    });
  };

  /** Blocks arrive, a few at a time; occasionally the last ones are replaced, and restored. */
  const mine = async (prng: Prng) => {
    for (let round = 0; round < 40; round++) {
      node.mine(1 + prng.below(4));
      if (round % 8 === 5) {
        await caughtUp();
        const replaced = node.fork(node.stats().head - prng.below(4));
        await caughtUp();
        node.fork(replaced[0]!.number, replaced); // also restores the rest of the chain
      }
      await sleep(prng.below(12));
    }
  };

  test('a pushed transfer equals what REST returns, and REST returns it already', async () => {
    const client = await open();
    const wallet = wallets[0]!;
    const feed = await client.subscribe<StreamedTransfer>('wallet_transfers', { address: wallet });
    const seenByRest: Promise<void>[] = [];
    client.socket.on('message', (data) => {
      const id: number | undefined = JSON.parse(String(data)).params?.result?.id;
      if (id !== undefined) seenByRest.push(restShows(served, wallet, id));
    });
    node.mine(20);
    await caughtUp();
    const expected = await transfersOf(served, wallet, 101);
    await waitFor(() => feed.results.length >= expected.length, { what: 'the transfers of 20 blocks' });
    assert.deepEqual(feed.results.map(asRecord), expected);
    assert.ok(expected.length > 10);
    await Promise.all(seenByRest);
    client.socket.close();
  });

  test('transfers are filtered by direction and kind', async () => {
    const client = await open();
    const address = wallets[1]!;
    const options = [
      { direction: 'in' },
      { direction: 'out' },
      { includeNative: false },
      { includeTokens: false },
      { includeNative: false, includeTokens: false },
    ];
    const feeds = await Promise.all(
      options.map((option) =>
        client.subscribe<StreamedTransfer>('wallet_transfers', { address, fromBlock: 1, ...option }),
      ),
    );
    const all = await transfersOf(served, address);
    const isNative = ({ transferType }: { transferType: string }) => transferType.startsWith('native');
    const expected = [
      all.filter(({ to }) => to === address).map((transfer) => ({ ...transfer, direction: 'in' as const })),
      all.filter(({ from }) => from === address),
      all.filter((transfer) => !isNative(transfer)),
      all.filter(isNative),
      [],
    ];
    for (const [i, feed] of feeds.entries()) {
      await waitFor(() => feed.results.length >= expected[i]!.length, { what: JSON.stringify(options[i]) });
      assert.deepEqual(feed.results.map(asRecord), expected[i], JSON.stringify(options[i]));
    }
    client.socket.close();
  });

  test('a wallet that first appears later gets its first transfer', async () => {
    const client = await open();
    const from = node.stats().head + 1;
    const addresses = [...new Set(receiversIn(blocks.slice(from - 1, from + 39)))];
    const summaries = await Promise.all(
      addresses.map((address) => served.get('wallet_summary', { address })),
    );
    const newcomers = addresses.filter((_, i) => summaries[i]?.txCount === 0).slice(0, 20);
    assert.ok(newcomers.length > 3, 'the chain has newcomers');
    const feeds = await Promise.all(
      newcomers.map((address) => client.subscribe<StreamedTransfer>('wallet_transfers', { address })),
    );
    node.mine(40);
    await caughtUp();
    for (const [i, feed] of feeds.entries()) {
      const expected = await transfersOf(served, newcomers[i]!);
      assert.ok(expected.length > 0);
      await waitFor(() => feed.results.length >= expected.length, { what: `transfers of ${newcomers[i]}` });
      assert.deepEqual(feed.results.map(asRecord), expected);
    }
    client.socket.close();
  });

  test('replays join the live push without gaps or duplicates while blocks are added and removed', async () => {
    const prng = new Prng(7);
    const feeds: { feed: Received<StreamedTransfer>; address: string; from: number | null; known: number }[] =
      [];
    const client = await open();
    let done = false;
    const mining = mine(prng).finally(() => {
      done = true;
    });
    mining.catch(() => undefined); // awaited below
    while (!done && feeds.length < 900) {
      const address = wallets[prng.below(wallets.length)]!;
      const from = prng.below(4) === 0 ? null : 1 + prng.below(node.stats().head + 5);
      const feed = await client.subscribe<StreamedTransfer>('wallet_transfers', {
        address,
        ...(from !== null && { fromBlock: from }),
      });
      feeds.push({ feed, address, from, known: await indexedBlock(served) });
      for (let turns = prng.below(40); turns > 0; turns--) await nextTurn();
      await sleep(prng.below(6));
    }
    await mining;
    await caughtUp();
    assert.ok(feeds.length > 20, `${feeds.length} subscriptions`);
    let removed = 0;
    for (const { feed, address, from, known } of feeds) {
      const rest = await transfersOf(served, address, from ?? 0);
      const last = rest.findLast(({ blockNumber }) => from !== null || blockNumber > known)?.id;
      await waitFor(() => last === undefined || remaining(feed.results).at(-1)?.id === last, {
        what: `transfer ${last} of ${address} from block ${from}`,
      });
      const told = remaining(feed.results).map(asRecord);
      removed += feed.results.length - told.length;
      if (from !== null) assert.deepEqual(told, rest, `${address} from block ${from}`);
      else assertSuffix(told, rest, known);
    }
    assert.ok(removed > 0, 'some transfers were taken back');
    client.socket.close();
  });

  test('signals report each side of a transfer, for all or for selected wallets', async () => {
    const client = await open('/ws/signals');
    const all = await client.signals<Signal>({ fromBlock: 1 });
    const some = await client.signals<Signal>([{ wallets: wallets.slice(0, 7), fromBlock: 1 }]);
    const funded = await client.signals<Signal>({ events: ['wallet_funded'], fromBlock: 1 });
    await caughtUp();
    node.mine(5);
    await caughtUp();
    const replaced = node.fork(node.stats().head - 1);
    await caughtUp();
    node.fork(replaced[0]!.number, replaced);
    node.mine(10);
    await caughtUp();
    const expected = (
      await Promise.all(wallets.slice(0, 7).map((wallet) => transfersOf(served, wallet)))
    ).flatMap((transfers, i) =>
      transfers.filter(isSignal).map((transfer) => signalKey({ ...transfer, wallet: wallets[i]! })),
    );
    await waitFor(() => remaining(some.results).length >= expected.length, {
      what: 'signals of seven wallets',
    });
    assert.deepEqual(remaining(some.results).map(signalKey).sort(), expected.sort());

    const chosen = new Set(wallets.slice(0, 7));
    const ofAll = () => remaining(all.results).filter(({ wallet }) => chosen.has(wallet));
    await waitFor(() => ofAll().length >= expected.length, { what: 'the same among all signals' });
    assert.deepEqual(ofAll().map(signalKey).sort(), expected);
    assert.ok(all.results.every(({ wallet }) => wallet !== ZERO));
    const last = lastEvent(db);
    await waitFor(() => remaining(all.results).at(-1)?.id === last, { what: 'the last of all signals' });
    const fundings = remaining(all.results).filter(({ event }) => event === 'wallet_funded');
    await waitFor(() => remaining(funded.results).length >= fundings.length, { what: 'fundings' });
    assert.deepEqual(remaining(funded.results).map(signalKey), fundings.map(signalKey));
    client.socket.close();
  });

  test('signals can be filtered by token', async () => {
    const client = await open('/ws/signals');
    const filter = { tokens: [token], events: ['wallet_token_buy'] };
    const replayed = await client.signals<Signal>({ ...filter, fromBlock: 1 });
    const live = await client.signals<Signal>(filter);
    const known = await indexedBlock(served);
    node.mine(40);
    await caughtUp();
    const expected = purchases(db, token);
    await waitFor(() => remaining(replayed.results).length >= expected.length, {
      what: 'purchases of a token',
    });
    assert.deepEqual(
      remaining(replayed.results).map(({ id, wallet }) => ({ id, wallet })),
      expected,
    );
    const since = remaining(replayed.results).filter(({ blockNumber }) => blockNumber > known);
    assert.ok(since.length > 0, 'the token moved');
    await waitFor(() => live.results.length >= since.length, { what: 'the same live' });
    assert.deepEqual(live.results.map(signalKey), since.map(signalKey));
    client.socket.close();
  });
});

/** Distinguishes one signal from another. */
function signalKey({ id, wallet, direction }: { id: number; wallet: string; direction: string }): string {
  return `${id} ${wallet} ${direction}`;
}

/** The id of the last transfer of the index that is a signal. */
function lastEvent(db: Db): unknown {
  const signals =
    '(kind = 3 OR length(amount) > 0) AND NOT (sender = receiver AND (sender = 0 OR token IS NOT NULL))';
  return db.prepare(`SELECT max(id) FROM transfers WHERE ${signals}`).pluck().get();
}

/** According to the index itself: the receivers of a token, oldest first. */
function purchases(db: Db, token: string): { id: number; wallet: string }[] {
  return db
    .prepare<[Buffer], { id: number; wallet: string }>(
      `SELECT t.id, '0x' || lower(hex(w.address)) AS wallet FROM transfers t JOIN wallets w ON w.id = t.receiver
          JOIN tokens k ON k.id = t.token JOIN wallets c ON c.id = k.wallet
        WHERE c.address = ? AND t.receiver <> t.sender AND t.receiver <> 0 AND (t.kind = 3 OR length(t.amount) > 0)
        ORDER BY t.id`,
    )
    .all(Buffer.from(token.slice(2), 'hex'));
}

function lastHash(db: Db): unknown {
  return db.prepare("SELECT '0x' || lower(hex(hash)) FROM blocks ORDER BY number DESC LIMIT 1").pluck().get();
}

/** The last block that REST shows. */
async function indexedBlock({ url, key }: TestDaemon): Promise<number> {
  const response = await fetch(`${url}/api/wallet_summary?address=${ZERO}`, {
    headers: { 'X-API-Key': key },
  });
  return Number(response.headers.get('x-indexed-block'));
}

function receiversIn(blocks: readonly GeneratedBlock[]): string[] {
  return blocks.flatMap(({ block }) => {
    const { transactions }: { transactions: { to: string | null; value: string }[] } = JSON.parse(
      String(block),
    );
    return transactions.flatMap(({ to, value }) => (to === null || value === '0x0' ? [] : to));
  });
}

async function restShows(served: TestDaemon, address: string, id: number): Promise<void> {
  const { transfers } = await served.get<{ transfers: { id: number }[] }>('address_transfers', {
    address,
    limit: 1,
    cursor: id + 1,
    include_internal: 'true',
  });
  assert.equal(transfers[0]?.id, id);
}

/** A live subscription has all blocks after the one indexed when it was created, and only the end of the REST list. */
function assertSuffix(
  told: readonly { id: number }[],
  rest: readonly { id: number; blockNumber: number }[],
  known: number,
) {
  assert.deepEqual(told, rest.slice(rest.length - told.length));
  const later = rest.filter(({ blockNumber }) => blockNumber > known);
  assert.ok(told.length >= later.length, `${told.length} told, ${later.length} came later`);
}
