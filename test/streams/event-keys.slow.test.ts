/** The deduplication key as used by a client: txHash and eventIndex on a chain, plus blockHash across reorgs. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import type { GeneratedBlock } from '../../scripts/simulator/chain/block.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import { generateTraffic } from '../../src/dev/traffic.ts';
import { isObject } from '../../src/lib/text.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { resultOf, startGeneratedNode, suiteCleanup } from '../support/nodes/replay.ts';
import { waitFor } from '../support/wait.ts';
import { StreamClient } from './client.ts';
import {
  asRecord,
  eventKey,
  isSignal,
  remaining,
  type StreamedTransfer,
  signalKey,
  type Transfer,
  transfersOf,
} from './record.ts';

interface Signal extends StreamedTransfer {
  wallet: string;
  valueWei: string | null;
}

const ZERO = `0x${'0'.repeat(40)}`;

/** Room for a subscription of every wallet on one socket. */
const env = { ATLAS_STREAM__MAX_SUBSCRIPTIONS: '10000' };

/** The number of distinct values of `keyOf`. */
const distinct = <T>(events: readonly T[], keyOf: (event: T) => string) => new Set(events.map(keyOf)).size;

suite('events of the demo chain', () => {
  const owner = suiteCleanup();
  let served: TestDaemon;
  let anvil: Anvil;
  /** All transfers of each wallet, as listed by REST. */
  const byWallet = new Map<string, Transfer[]>();

  before(async () => {
    anvil = await startAnvil({ manual: true });
    owner.after(() => anvil.stop());
    const contracts = await deployDemo(anvil.url, { mine: true });
    await generateTraffic(anvil.url, contracts, { rounds: 2, mine: true });
    served = await startTestDaemon(owner, { flags: { '--node-http': anvil.url }, env });
    await served.reaches(Number(await anvil.call('eth_blockNumber')));
    await tokensExamined(served);
    const wallets = new Set(indexedTransfers(served.dataDir).flatMap(({ from, to }) => [from, to]));
    for (const wallet of wallets) byWallet.set(wallet, await transfersOf(served, wallet));
  });

  test('txHash and eventIndex identify every event of a wallet; txHash and logIndex do not', () => {
    let merged = 0;
    for (const [wallet, events] of byWallet) {
      assert.equal(distinct(events, eventKey), events.length, wallet);
      if (distinct(events, ({ txHash, logIndex }) => `${txHash} ${logIndex}`) < events.length) merged++;
    }
    assert.ok(byWallet.size > 30, `${byWallet.size} wallets`);
    assert.ok(merged > 0, 'the demo chain has wallets that the logIndex is not enough for');
  });

  test('every REST list counts eventIndex over all transfers of the transaction, listed or not', async () => {
    const places = new Map<number, number>();
    const counts = new Map<string, number>();
    for (const { id, hash } of indexedTransfers(served.dataDir)) {
      const place = counts.get(hash) ?? 0;
      counts.set(hash, place + 1);
      places.set(id, place);
    }
    for (const events of byWallet.values()) {
      for (const { id, eventIndex } of events) assert.equal(eventIndex, places.get(id), `transfer ${id}`);
    }
    const all = new Map([...byWallet.values()].flat().map((event) => [eventKey(event), event]));
    /** Compares a non-empty list of transfers with those of address_transfers. */
    const compare = (listed: readonly Listed[]) => {
      for (const { txHash, eventIndex, blockNumber, blockHash, to } of listed) {
        const event = all.get(eventKey({ txHash, eventIndex }));
        assert.deepEqual(
          [event?.blockNumber, event?.blockHash, to ?? event?.to],
          [blockNumber, blockHash, event?.to],
        );
      }
      return listed.length;
    };
    const { transfers: whales } = await served.get<{ transfers: Listed[] }>('whale_transfers', {
      min_mon: '0',
      limit: 200,
    });
    assert.ok(compare(whales) > 20);
    let compared = 0;
    for (const [address, events] of byWallet) {
      const without = await served.get<{ transfers: Transfer[] }>('address_transfers', {
        address,
        limit: 500,
      });
      const listed = events.filter(({ transferType }) => transferType !== 'native_internal');
      assert.deepEqual(without.transfers.toReversed(), listed.slice(-500));
      const sent = await served.get<{ transfers: Listed[] }>('recent_token_transfers_out', { address });
      const { firstFunding } = await served.get<{ firstFunding: Listed | null }>('wallet_funding_source', {
        address,
      });
      const { latestNativeIn } = await served.get<{ latestNativeIn: Listed | null }>('latest_native_in', {
        address,
      });
      const { recipients } = await served.get<{ recipients: Recipient[] }>('funding_recipients', { address });
      const latest = recipients.map(({ address: to, lastBlock, ...rest }) => ({
        ...rest,
        blockNumber: lastBlock,
        to,
      }));
      const { chain } = await served.get<{ chain: Listed[] }>('funding_chain', { address });
      const { coordinated } = await served.get<{ coordinated: (Listed & { address: string })[] }>(
        'coordinated_wallets',
        { address },
      );
      compared += compare([
        ...sent.transfers,
        ...[firstFunding, latestNativeIn].flatMap((one) => (one === null ? [] : { ...one, to: address })),
        ...latest,
        ...chain,
        ...coordinated.map((one) => ({ ...one, to: one.address })),
      ]);
    }
    assert.ok(compared > 100, `${compared} compared`);
  });

  test('a replay pushes what REST lists, with the block hash', async () => {
    const client = await StreamClient.open(owner, served.url, served.key);
    const hashes = new Map<number, unknown>();
    for (const { blockNumber } of [...byWallet.values()].flat()) {
      if (hashes.has(blockNumber)) continue;
      const at = `0x${blockNumber.toString(16)}`;
      const block = await anvil.call('eth_getBlockByNumber', [at, false]);
      assert.ok(isObject(block));
      hashes.set(blockNumber, block.hash);
    }
    for (const [address, events] of byWallet) {
      const feed = await client.subscribe<StreamedTransfer>('wallet_transfers', { address, fromBlock: 0 });
      await waitFor(() => feed.results.length >= events.length, { what: `the transfers of ${address}` });
      assert.deepEqual(feed.results.map(asRecord), events);
      for (const { blockNumber, blockHash } of feed.results) assert.equal(blockHash, hashes.get(blockNumber));
    }
    client.socket.close();
  });

  test("a transfer is one signal per side, so the direction is part of a signal's key", async () => {
    const client = await StreamClient.open(owner, served.url, served.key, '/ws/signals');
    const feed = await client.signals<Signal>({ fromBlock: 0 });
    const expected = [...byWallet].flatMap(([wallet, events]) =>
      wallet === ZERO ? [] : events.filter(isSignal).map(signalKey),
    );
    await waitFor(() => feed.results.length >= expected.length, { what: 'all signals' });
    assert.deepEqual(feed.results.map(signalKey).sort(), expected.sort());
    assert.equal(distinct(feed.results, signalKey), feed.results.length);
    assert.ok(distinct(feed.results, eventKey) < feed.results.length);
    for (const { wallet, eventIndex, txHash, decimals, symbol } of feed.results) {
      const event = byWallet
        .get(wallet)
        ?.find((one) => one.txHash === txHash && one.eventIndex === eventIndex);
      assert.deepEqual([symbol, decimals], [event?.symbol, event?.decimals]);
    }
    client.socket.close();
  });
});

/** The fields shared by the records of all lists; `to` if the record has it. */
interface Listed {
  txHash: string;
  eventIndex: number;
  blockNumber: number;
  blockHash: string;
  to?: string;
}

interface Recipient {
  address: string;
  lastBlock: number;
  blockHash: string;
  txHash: string;
  eventIndex: number;
}

/** Resolves when symbols and decimals no longer change, because every token's contract was called. */
async function tokensExamined({ dataDir }: TestDaemon): Promise<void> {
  const db = openIndexForReading(join(dataDir, 'index.db'));
  const left = db
    .prepare<[], number>(
      `SELECT count(*) FROM tokens t JOIN wallets w ON w.id = t.wallet
        WHERE w.address NOT IN (SELECT address FROM token_metadata)`,
    )
    .pluck();
  try {
    await waitFor(() => left.get() === 0, { what: 'the metadata of all tokens' });
  } finally {
    db.close();
  }
}

suite('events across reorgs', () => {
  const owner = suiteCleanup();
  let node: ReplayNode;
  let blocks: GeneratedBlock[];
  let served: TestDaemon;

  before(async () => {
    const chain = { blocks: 90, txPerBlock: 10, startBlock: 1, wallets: 40, tokens: 12 };
    ({ node, blocks } = await startGeneratedNode(owner, chain, { head: 40, finalizedLag: 100 }));
    served = await startTestDaemon(owner, {
      flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
      env,
    });
    await served.reaches(40);
  });

  const caughtUp = async () => {
    const { hash } = await resultOf<{ hash: string }>(node.url, 'eth_getBlockByNumber', 'latest', false);
    await waitFor(() => served.daemon.status().head?.hash === hash, { what: `block ${hash} in the index` });
  };

  test('a client that stores events by key has what REST lists after any reorg', async () => {
    const transfers = await StreamClient.open(owner, served.url, served.key);
    const signals = await StreamClient.open(owner, served.url, served.key, '/ws/signals');
    const wallets = [
      ...new Set(blocks.flatMap((block) => block.transfers).flatMap(({ from, to }) => [from, to])),
    ];
    const feeds = await Promise.all(
      wallets.map((address) => transfers.subscribe<StreamedTransfer>('wallet_transfers', { address })),
    );
    const all = await signals.signals<Signal>({ fromBlock: 41 });
    for (let round = 0; round < 12; round++) {
      node.mine(4);
      await caughtUp();
      const replaced = node.fork(node.stats().head - (round % 4));
      await caughtUp();
      if (round % 2 === 0) continue; // the other branch wins
      node.fork(replaced[0]!.number, replaced);
      await caughtUp();
    }
    let withdrawn = 0;
    const blocksOfTransfer = new Map<string, Set<string>>();
    for (const [i, address] of wallets.entries()) {
      const { results } = feeds[i]!;
      const rest = await transfersOf(served, address, 41);
      await waitFor(() => remaining(results).at(-1)?.id === rest.at(-1)?.id, {
        what: `the last transfer of ${address}`,
      });
      const kept = keep(results, blockKey);
      assert.deepEqual(kept.map(asRecord), rest, address);
      withdrawn += results.filter(({ removed }) => removed).length;
      for (const event of results) {
        const { blockHash } = event;
        const at = blocksOfTransfer.get(eventKey(event)) ?? new Set();
        blocksOfTransfer.set(eventKey(event), at.add(blockHash));
      }
      const replayed = await transfers.subscribe<StreamedTransfer>('wallet_transfers', {
        address,
        fromBlock: 41,
      });
      await waitFor(() => replayed.results.length >= kept.length, { what: `the replay of ${address}` });
      assert.deepEqual(replayed.results, kept, `the replay of ${address} equals what came live`);
    }
    assert.ok(withdrawn > 100, `${withdrawn} were withdrawn`);
    const inBoth = [...blocksOfTransfer.values()].filter((hashes) => hashes.size > 1).length;
    assert.ok(inBoth > 50, `${inBoth} transfers stood in blocks of both branches`);
    const told = feeds.flatMap(({ results }) => results);
    const wanted = keep(told, blockSide).filter((event) => isSignal(event) && ownerOf(event) !== ZERO);
    await waitFor(() => keep(all.results, blockSide).length >= wanted.length, { what: 'all signals' });
    assert.deepEqual(keep(all.results, blockSide).map(blockSide).sort(), wanted.map(blockSide).sort());
    transfers.socket.close();
    signals.socket.close();
  });
});

/** The wallet of an event. */
const ownerOf = ({ direction, from, to }: StreamedTransfer) => (direction === 'in' ? to : from);
const blockKey = (event: StreamedTransfer) => `${event.blockHash} ${eventKey(event)}`;
const blockSide = (event: StreamedTransfer) => `${event.blockHash} ${signalKey(event)}`;

/** The final state of a client that stores each event under its key and deletes removed ones, oldest first. */
function keep<T extends StreamedTransfer>(results: readonly T[], keyOf: (event: T) => string): T[] {
  const kept = new Map<string, T>();
  for (const event of results) {
    const key = keyOf(event);
    if (event.removed) assert.ok(kept.delete(key), `${key} is removed without having been told`);
    else {
      assert.ok(!kept.has(key), `${key} came twice`);
      kept.set(key, event);
    }
  }
  return [...kept.values()];
}
