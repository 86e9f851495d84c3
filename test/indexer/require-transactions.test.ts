/** Blocks of which a node has only the header, compared with blocks that are empty or have an unusual header. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBlocks } from '../../src/indexer/backfill/load-blocks.ts';
import { RpcClient } from '../../src/node/client.ts';
import { PLAIN_RULES } from '../decode/plain.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';

const NO_HASH = `0x${'0'.repeat(64)}`;

/** Block 1 of the chain used in tests of execution clients, which has four transactions. */
const HEADER = {
  number: '0x1',
  hash: '0x80e911b62f552f563a2544dfef5eb39ec8863d9082c998ca6b657f76e19de38e',
  parentHash: '0x44fd89d504659cd58f48f4796b77a7e7012cf296a2409afa2f6c3cb99b5b3d99',
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: `0x${'0'.repeat(40)}`,
  stateRoot: '0xabde8ecaf1aee4710c1edbd19f01f0c9ee3495acd83818822cf13704f5c9e7dd',
  transactionsRoot: '0xe59276e836db856f9137c247add7333879b98bdf82db67c40d25914fa0ab8e48',
  receiptsRoot: '0x68e78088e89f476d25495c7802dbed8a5735ef869ea2aae927ed4e62966e1a4f',
  logsBloom: `0x${'0'.repeat(512)}`,
  difficulty: '0x20000',
  gasLimit: '0x5f5e100',
  gasUsed: '0x527eb',
  timestamp: '0xa',
  extraData: '0x',
  mixHash: NO_HASH,
  nonce: '0x0000000000000000',
};
const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

test('a block whose header alone is available is not indexed as empty', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 4, maxBatch: 10 });
  t.after(() => client.close());
  const rules = { ...PLAIN_RULES, traces: null, blockReceipts: true, monad: true };
  const load = (header: object, asked: object = header) => {
    node.misbehave({
      replace: (method, params) =>
        method === 'eth_getBlockReceipts'
          ? []
          : { ...(params[1] === true ? header : asked), transactions: [] },
    });
    return loadBlocks(client, rules, 1, 1);
  };
  await assert.rejects(load(HEADER), {
    reason: 'inconsistent',
    message:
      'the node does not have the transactions of block 1, not yet or no longer; ' +
      'if this stays, use another node (node_http)',
  });
  await assert.rejects(
    load(HEADER, { ...HEADER, hash: NO_HASH }),
    /the node's block 1 changed while it was read/,
  );
  // A header proves nothing if it does not hash to the block's hash, and an empty block is valid.
  for (const other of [
    { hash: NO_HASH },
    { extraData: '0x01' },
    { gasUsed: '0x0' },
    { receiptsRoot: EMPTY_TRIE_ROOT },
  ])
    assert.equal((await load({ ...HEADER, ...other })).blockCount, 1, JSON.stringify(other));
});
