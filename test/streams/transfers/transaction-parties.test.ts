import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../../src/lib/errors.ts';
import type { RpcCall, RpcReply } from '../../../src/node/client.ts';
import { TransactionParties } from '../../../src/streams/transfers/transaction-parties.ts';

const FROM = `0x${'Aa'.repeat(20)}`;
const TO = `0x${'bb'.repeat(20)}`;

test('requests each transaction once, in batches, and creations by their receipt', async () => {
  const asked: string[][] = [];
  const parties = new TransactionParties({
    batch: async (calls: readonly RpcCall[]): Promise<RpcReply[]> => {
      asked.push(calls.map(({ method, params }) => `${method} ${params[0]}`));
      return calls.map(({ method, params }): RpcReply => {
        if (method === 'eth_getTransactionReceipt') return { result: { contractAddress: TO } };
        if (params[0] === '0xunknown') return { result: null };
        return { result: { from: FROM, to: params[0] === '0xcreation' ? null : TO } };
      });
    },
  });
  const hashes = ['call', 'creation', 'unknown', 'call'];
  assert.deepEqual(
    hashes.map((hash) => parties.get(hash)),
    [undefined, undefined, undefined, undefined],
  );
  await parties.settled();
  const known = { from: 'aa'.repeat(20), to: 'bb'.repeat(20) };
  assert.deepEqual(
    hashes.map((hash) => parties.get(hash)),
    [known, known, null, known],
  );
  assert.deepEqual(asked, [
    ['call', 'creation', 'unknown'].map((hash) => `eth_getTransactionByHash 0x${hash}`),
    ['eth_getTransactionReceipt 0xcreation'],
  ]);
});

test('a node that does not answer leaves them unknown', async () => {
  const parties = new TransactionParties({
    batch: () => Promise.reject(new UpstreamError('timeout', 'the node is silent')),
  });
  assert.equal(parties.get('call'), undefined);
  await parties.settled();
  assert.equal(parties.get('call'), null);
});
