import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { resultOf, startGeneratedNode, subscribe } from '../support/nodes/replay.ts';
import { waitFor } from '../support/wait.ts';

const CHAIN = { blocks: 20, txPerBlock: 8 };

interface Head {
  number: string;
  hash: string;
  parentHash: string;
}
interface Log {
  blockHash: string;
  logIndex: string;
  removed: boolean;
}
interface Block extends Head {
  transactions: string[];
}

test('new heads and their logs are announced in order while the head moves', async (t) => {
  const { node, blocks } = await startGeneratedNode(t, CHAIN, { head: 3 });
  const heads = await subscribe<Head>(t, node.wsUrl, 'newHeads');
  const logs = await subscribe<Log>(t, node.wsUrl, 'logs', {});
  assert.equal(node.mine(), 4);
  assert.equal(node.setHead(9), 9);
  const wanted = blocks.slice(3, 9);
  const wantedLogs = wanted
    .flatMap((block): { logs: Log[] }[] => JSON.parse(block.receipts))
    .flatMap((receipt) => receipt.logs);
  await waitFor(() => heads.received.length >= 6 && logs.received.length >= wantedLogs.length, {
    what: 'six heads and their logs',
  });
  assert.deepEqual(
    heads.received.map(({ hash }) => hash),
    wanted.map(({ hash }) => hash),
  );
  assert.deepEqual(logs.received, wantedLogs);
});

test('the head never passes the last block', async (t) => {
  const { node } = await startGeneratedNode(t, CHAIN, { head: 18 });
  assert.equal(node.mine(5), 20);
  assert.equal(node.mine(), 20);
});

test('with a block time the head moves by itself', async (t) => {
  const { node } = await startGeneratedNode(t, CHAIN, { blockTimeMs: 2 });
  await waitFor(() => node.stats().head === 20, { what: 'the last block' });
});

test('another process moves the head through calls', async (t) => {
  const { node } = await startGeneratedNode(t, CHAIN, { head: 1 });
  assert.equal(await resultOf(node.url, 'replay_mine', 2), 3);
  assert.equal(await resultOf(node.url, 'replay_setHead', 7), 7);
  assert.equal(await resultOf(node.url, 'eth_blockNumber'), '0x7');
  assert.equal((await resultOf<{ head: number }>(node.url, 'replay_stats')).head, 7);
});

test('a fork replaces the blocks up to the head, announces the new ones and links what follows', async (t) => {
  const { node, blocks } = await startGeneratedNode(t, CHAIN, { head: 10 });
  const heads = await subscribe<Head>(t, node.wsUrl, 'newHeads');
  node.fork(8);
  node.mine();
  await waitFor(() => heads.received.length === 4, { what: 'the heads of the new branch' });

  assert.deepEqual(
    heads.received.map(({ number }) => Number(number)),
    [8, 9, 10, 11],
  );
  let parent = blocks[6]!.hash as string;
  for (const head of heads.received) {
    assert.equal(head.parentHash, parent);
    assert.notEqual(head.hash, blocks[Number(head.number) - 1]?.hash);
    parent = head.hash;
    const served = await resultOf<Block>(node.url, 'eth_getBlockByNumber', head.number, false);
    assert.equal(served.hash, head.hash);
    const receipts = await resultOf<{ blockHash: string }[]>(node.url, 'eth_getBlockReceipts', head.number);
    const old: Block = JSON.parse(blocks[Number(head.number) - 1]!.block);
    assert.equal(served.transactions.length, old.transactions.length - 1);
    assert.equal(receipts.length, served.transactions.length);
    assert.ok(receipts.every(({ blockHash }) => blockHash === head.hash));
  }
  assert.equal(await resultOf(node.url, 'eth_getBlockByHash', blocks[8]!.hash, false), null);
});

test('a transaction that a fork left out has no receipt until its block is back', async (t) => {
  const { node, blocks } = await startGeneratedNode(t, CHAIN);
  const { transactions }: { transactions: { hash: string }[] } = JSON.parse(blocks[19]!.block);
  const hash = transactions.at(-1)?.hash;
  assert.notEqual(await resultOf(node.url, 'eth_getTransactionReceipt', hash), null);
  const replaced = node.fork(20);
  assert.equal(await resultOf(node.url, 'eth_getTransactionReceipt', hash), null);
  node.fork(20, replaced);
  assert.notEqual(await resultOf(node.url, 'eth_getTransactionReceipt', hash), null);
  assert.equal(
    (await resultOf<Block>(node.url, 'eth_getBlockByNumber', 'latest', false)).hash,
    blocks[19]?.hash,
  );
});

test('a fork to given blocks links the first of them and may move the head', async (t) => {
  const { node, blocks } = await startGeneratedNode(t, CHAIN, { head: 12 });
  const branch = [...generateChain({ blocks: 6, txPerBlock: 8, startBlock: 11, seed: 2 }).blocks];
  const heads = await subscribe<Head>(t, node.wsUrl, 'newHeads');
  const { transactions }: { transactions: { hash: string }[] } = JSON.parse(branch[1]!.block);
  const hash = transactions[0]?.hash;
  assert.equal(await resultOf(node.url, 'eth_getTransactionReceipt', hash), null);
  node.fork(11, branch, { head: 14 });
  assert.notEqual(await resultOf(node.url, 'eth_getTransactionReceipt', hash), null);
  assert.equal(node.stats().head, 14);
  assert.equal(node.stats().last, 16);
  await waitFor(() => heads.received.length === 4, { what: 'four heads' });
  assert.deepEqual(
    heads.received.map(({ hash }) => hash),
    branch.slice(0, 4).map(({ hash }) => hash),
  );
  assert.equal(heads.received[0]?.parentHash, blocks[9]?.hash);
});

test('blocks can be added above the last one', async (t) => {
  const { node, blocks } = await startGeneratedNode(t, CHAIN);
  const [more] = generateChain({ blocks: 1, txPerBlock: 8, startBlock: 21, seed: 3 }).blocks;
  node.fork(21, [more!]);
  assert.equal(node.mine(), 21);
  const added = await resultOf<Head>(node.url, 'eth_getBlockByNumber', 'latest', false);
  assert.equal(added.hash, more?.hash);
  assert.equal(added.parentHash, blocks[19]?.hash);
});

test('a fork at an unknown height or with wrong numbers is refused and changes nothing', async (t) => {
  const { node } = await startGeneratedNode(t, CHAIN);
  const [wrong] = generateChain({ blocks: 1, startBlock: 19 }).blocks;
  assert.throws(() => node.fork(30), /no such block/);
  assert.throws(() => node.fork(20, [wrong!]), /has block 19/);
  assert.throws(() => node.fork(20, []), /without blocks/);
  assert.equal(node.stats().blocks, 20);
});

test('a node that forks by itself serves siblings first and announces the recorded blocks later', async (t) => {
  const { node, blocks } = await startGeneratedNode(t, CHAIN, { head: 1, reorgEvery: 5, reorgDepth: 2 });
  const heads = await subscribe<Head>(t, node.wsUrl, 'newHeads');
  node.setHead(11);
  await waitFor(() => heads.received.length === 14, { what: 'fourteen heads' });
  assert.deepEqual(
    heads.received.map(({ number }) => Number(number)),
    [2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 10, 9, 10, 11],
  );
  const known = new Set<string>(blocks.map(({ hash }) => hash));
  assert.deepEqual(
    heads.received.filter(({ hash }) => !known.has(hash)).map(({ number }) => Number(number)),
    [4, 5, 9, 10],
  );
  assert.equal(heads.received[3]?.parentHash, heads.received[2]?.hash);
});
