/** `index.check_roots` where headers stop to hash to their hashes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/decode/read-json.ts';
import { findHeaderProof, type HeaderProof, RootCheck } from '../../src/indexer/root-check.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import type { RpcCall } from '../../src/node/client.ts';
import { headerOf, root } from '../support/chain/header.ts';

const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const EMPTY = headerOf(23, { transactionsRoot: EMPTY_TRIE_ROOT, receiptsRoot: EMPTY_TRIE_ROOT });
/** An emptied block: its transactions and the gas they used are missing. */
const EMPTIED = { ...headerOf(), gasUsed: '0x0' };
const FORKED = { ...EMPTY, nextForkHash: root('0d'), hash: root('0e') };

const blocksOf = (...blocks: [number, JsonObject][]) =>
  blocks.map(([number, block]) => ({ number, block, receipts: [] }));

test('a header that does not hash to its hash is refused once an earlier one did, and unproven before', async () => {
  const unproven: number[] = [];
  const proof: HeaderProof = { from: null };
  const check = new RootCheck(proof, (block) => unproven.push(block));
  await check.require(blocksOf([4, FORKED], [5, EMPTIED]));
  assert.deepEqual([unproven, proof.from], [[4, 5], null]);
  await check.require(blocksOf([6, EMPTY]));
  assert.equal(proof.from, 6);
  await check.require(blocksOf([3, FORKED]));
  assert.deepEqual(unproven, [4, 5, 3], 'older blocks may have another format');
  for (const block of [EMPTIED, FORKED])
    await assert.rejects(check.require(blocksOf([7, EMPTY], [8, block])), {
      reason: 'inconsistent',
      block: 8,
      message:
        /^the node's block 8 contradicts its header: its header does not hash .* block 6 does; .*update/,
    });
  await check.require(blocksOf([2, EMPTY]));
  await assert.rejects(check.require(blocksOf([3, FORKED])), { block: 3 });
});

test('an emptied block contradicts its header, and what cannot be encoded is the node’s fault', async () => {
  const check = new RootCheck();
  await assert.rejects(check.require(blocksOf([1, headerOf()])), /do not match the transactions root/);
  const hash = root('01');
  for (const odd of [{ to: '0x1' }, { value: {} }, { input: 'zz' }, { nonce: 'x' }]) {
    const tx = {
      hash,
      nonce: '0x0',
      gasPrice: '0x1',
      gas: '0x1',
      to: '',
      value: '0x',
      input: '0x',
      v: '0x1b',
    };
    const block = { ...headerOf(), transactions: [{ ...tx, r: '0x1', s: '0x1', ...odd }] };
    await assert.rejects(
      check.require(blocksOf([1, block])),
      (error) => error instanceof UpstreamError && error.reason === 'malformed',
      JSON.stringify(odd),
    );
  }
});

test('the proof that a loader starts with is the lowest of the blocks whose header hashes', async () => {
  const headers = new Map<unknown, unknown>([
    ['0x1', FORKED],
    ['0x5', EMPTY],
    ['0x9', EMPTY],
    ['0xa', null],
  ]);
  const batch = (calls: readonly RpcCall[]) =>
    Promise.resolve(calls.map(({ params }) => ({ result: headers.get(params[0]) })));
  assert.deepEqual(await findHeaderProof({ batch }, [1, 9, 5, 10]), { from: 5 });
  assert.deepEqual(await findHeaderProof({ batch }, [1, 10]), { from: null });
});
