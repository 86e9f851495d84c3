/** Nodes that leave out of a block's receipts or traces what their other answers tell. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeRules } from '../../../src/decode/rules.ts';
import { deriveLoadRules, loadBlocks } from '../../../src/indexer/backfill/load-blocks.ts';
import { UpstreamError } from '../../../src/lib/errors.ts';
import { newRules } from '../../../src/model/index-rules.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { honestBlock, type Members } from '../../support/chain/lying-block.ts';
import { NodeError, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';

const BLOCK = 5;

/** Changes an answer: the method, what it was asked about, and the honest answer, which it may change in place. */
type Tell = (method: string, about: unknown, result: Members[] & Members) => unknown;

const { block: HEADER, receipts: RECEIPTS } = honestBlock(BLOCK);
const HASHES = (HEADER['transactions'] as Members[]).map(({ hash }) => hash);

function answerOf(method: string, [about, isFull]: unknown[]): unknown {
  const { block, receipts, traces } = honestBlock(BLOCK);
  switch (method) {
    case 'eth_getBlockByNumber':
      return isFull === true ? block : { ...block, transactions: HASHES };
    case 'eth_getBlockReceipts':
      return receipts;
    case 'eth_getTransactionReceipt':
      return receipts.find(({ transactionHash }) => transactionHash === about) ?? null;
    case 'eth_getTransactionByHash':
      return (block['transactions'] as Members[]).find(({ hash }) => hash === about) ?? null;
    case 'eth_getLogs':
      assert.deepEqual(about, { blockHash: HEADER['hash'] });
      return receipts.flatMap(({ logs }) => logs);
    case 'debug_traceTransaction':
      return traces.find(({ txHash }) => txHash === about)?.['result'] ?? null;
    default:
      return traces;
  }
}

/** A loader of the block from a node that tells it as given. */
async function listener(t: TestContext, isListed: boolean) {
  let tell: Tell = (_method, _about, result) => result;
  const asked: string[] = [];
  const node = await startMisbehavingNode({
    answer(method, params) {
      asked.push(method);
      return tell(method, params[0], answerOf(method, params) as Members[] & Members);
    },
  });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 2, maxBatch: 30 });
  t.after(() => client.close());
  const rules = () => ({
    ...deriveLoadRules(
      { traces: 'debug_traceBlockByHash', blockReceipts: isListed } as Parameters<typeof deriveLoadRules>[0],
      newRules({ chainId: 0, monad: false, configured: {} }),
    ),
    ...decodeRules(newRules({ chainId: 0, monad: false, configured: {} })),
  });
  const load = async (known = rules()) => {
    const batch = await loadBlocks(client, known, BLOCK, BLOCK);
    return { ...batch, tracedBlock: null };
  };
  const tells = (next: Tell) => {
    tell = next;
  };
  return { load, rules, asked, tells };
}

const isReceipts = (method: string) => /Receipt/.test(method);
const isList = (method: string) => method === 'eth_getBlockReceipts';
const isByNumber = (method: string, about: unknown) => isList(method) && String(about).length < 66;
const each = (items: readonly Members[], change: (item: Members) => unknown) => {
  for (const item of items) change(item);
  return items;
};
const logsOf = ({ logs }: Members) => logs as Members[];
const hasNone = (receipt: Members) => receipt['logs'] !== undefined && logsOf(receipt).length === 0;

/** Leaves members out of receipts, in a list and alone. */
const without =
  (...names: string[]): Tell =>
  (method, _about, result) => {
    if (!isReceipts(method)) return result;
    for (const receipt of [result].flat()) for (const name of names) delete receipt[name];
    return result;
  };

const reversed =
  (tell: Tell): Tell =>
  (method, about, result) => {
    const told = tell(method, about, result);
    return isList(method) ? (told as Members[]).toReversed() : told;
  };

const noIndexes: Tell = (method, _about, result) => {
  const items = isReceipts(method) ? [result].flat() : (result['transactions'] as Members[] | undefined);
  for (const item of items ?? []) {
    if (typeof item !== 'object') continue;
    delete item['transactionIndex'];
    each((item['logs'] as Members[]) ?? [], (log) => delete log['transactionIndex']);
  }
  return result;
};

/** Transactions as hashes, whatever was asked for. */
const hashesOnly: Tell = (method, _about, result) =>
  method === 'eth_getBlockByNumber' ? { ...result, transactions: HASHES } : result;

const harmless: [string, Tell][] = [
  ['receipts without a block hash', without('blockHash')],
  [
    'receipts with an empty block hash, of a node that repeats it in no log either',
    (method, _about, result) => {
      if (isReceipts(method))
        each([result].flat(), (receipt) => {
          receipt['blockHash'] = '';
          each(logsOf(receipt), (log) => delete log['blockHash']);
        });
      return result;
    },
  ],
  [
    'receipts without a transaction hash',
    (method, about, result) => (isList(method) ? without('transactionHash')(method, about, result) : result),
  ],
  [
    'the list of logs left out where it is empty',
    (method, _about, result) => {
      if (isReceipts(method)) each([result].flat(), (receipt) => hasNone(receipt) && delete receipt['logs']);
      return result;
    },
  ],
  ['no logs in receipts at all', without('logs')],
  ['no logs and no blooms in receipts', without('logs', 'logsBloom')],
  ['receipts in another order, without indexes', reversed(without('transactionIndex'))],
  ['receipts in another order, and no index anywhere', reversed(noIndexes)],
  ['a null beside the receipts', (method, _about, result) => (isList(method) ? [null, ...result] : result)],
  [
    'an empty object beside the receipts',
    (method, _about, result) => (isList(method) ? [...result, {}] : result),
  ],
  ['receipts in an object', (method, _about, result) => (isList(method) ? { receipts: result } : result)],
  ['receipts as a text', (method) => (isList(method) ? 'none' : undefined)],
  [
    'a null beside the logs',
    (method, _about, result) => {
      if (isReceipts(method)) each([result].flat(), (receipt) => logsOf(receipt).push(null as never));
      return result;
    },
  ],
  [
    'logs with an empty block hash, transaction hash and number',
    (method, _about, result) => {
      if (isReceipts(method))
        each([result].flat().flatMap(logsOf), (log) =>
          Object.assign(log, { blockHash: '', transactionHash: '', logIndex: '' }),
        );
      return result;
    },
  ],
  [
    'no member but what is read',
    (method, about, result) =>
      without(
        'type',
        'from',
        'to',
        'cumulativeGasUsed',
        'blockNumber',
        'transactionIndex',
      )(method, about, result),
  ],
  [
    'a null beside the traces',
    (method, _about, result) => (/traceBlock/.test(method) ? [...result, null] : result),
  ],
  [
    'traces in an object',
    (method, _about, result) => (/traceBlock/.test(method) ? { traces: result } : result),
  ],
  [
    'traces with an empty transaction hash',
    (method, _about, result) => {
      if (/traceBlock/.test(method)) each(result, (item) => (item['txHash'] = ''));
      return result;
    },
  ],
  [
    'traces that name their transactions otherwise, in another order',
    (method, _about, result) =>
      /traceBlock/.test(method)
        ? result.toReversed().map(({ txHash, ...others }) => ({ transactionHash: txHash, ...others }))
        : result,
  ],
  ...[
    (result: unknown, txHash: unknown) => ({ txHash, result }),
    (result: unknown, txHash: unknown) => [{ transactionHash: txHash, result }],
    (result: unknown) => [result],
  ].map((wrap): [string, Tell] => [
    `traces of single transactions as ${wrap({}, '').constructor.name}`,
    (method, about, result) => {
      if (method === 'debug_traceTransaction') return wrap(result, about);
      return /traceBlock/.test(method) ? [] : result;
    },
  ]),
  ['transactions as hashes', hashesOnly],
];

for (const isListed of [true, false])
  test(`what an answer leaves out, another tells, ${isListed ? 'by block' : 'one by one'}`, async (t) => {
    const { load, tells } = await listener(t, isListed);
    const usual = await load();
    assert.ok(usual.transferCount > 8);
    for (const [what, tell] of harmless) {
      if (!isListed && /without a block hash|empty block hash, of/.test(what)) continue;
      tells((method, about, result) => tell(method, about, result) ?? result);
      assert.deepEqual(await load(), usual, what);
    }
  });

test('once receipts had to be completed, the next ones are read in full at once, until none has to', async (t) => {
  const { load, rules, asked, tells } = await listener(t, true);
  const known = rules();
  tells(without('logs'));
  for (const [times, learned] of [
    [2, true],
    [1, true],
  ] as const) {
    asked.length = 0;
    await load(known);
    assert.equal(asked.filter(isList).length, times);
    assert.equal(known.learned?.areReceiptsOdd, learned);
  }
  tells((_method, _about, result) => result);
  await load(known);
  assert.equal(known.learned?.areReceiptsOdd, false);
  tells(hashesOnly);
  await load(known);
  assert.equal(known.learned?.areReceiptsOdd, true);
});

const OTHER = `0x${'99'.repeat(32)}`;
const fail = () => {
  throw new NodeError(-32_602, 'invalid argument');
};

const refused: [string, Tell, RegExp][] = [
  [
    'receipts without a block hash and number, and none by hash',
    (method, about, result) =>
      isList(method) && !isByNumber(method, about)
        ? fail()
        : without('blockHash', 'blockNumber')(method, about, result),
    /block 5: its receipts do not name it \(blockHash\), and .*invalid argument.*use another node/,
  ],
  [
    'receipts without a block hash, and others by hash',
    (method, about, result) =>
      isByNumber(method, about)
        ? without('blockHash')(method, about, result)
        : isList(method)
          ? each(result, (receipt) => Object.assign(receipt, { blockHash: OTHER }))
          : result,
    /block 5: the node sent a receipt of .* in block "0x9999/,
  ],
  [
    'no logs in receipts, and no eth_getLogs',
    (method, about, result) => (method === 'eth_getLogs' ? fail() : without('logs')(method, about, result)),
    /block 5: its receipts leave logs out, and .*invalid argument.*use another node/,
  ],
  [
    'no logs in receipts, and none elsewhere',
    (method, about, result) => (method === 'eth_getLogs' ? [] : without('logs')(method, about, result)),
    /block 5 is incomplete: the receipt of .* has a bloom and no logs/,
  ],
  [
    'no logs in receipts, and those of another block elsewhere',
    (method, about, result) =>
      method === 'eth_getLogs'
        ? each(result, (log) => Object.assign(log, { blockHash: OTHER }))
        : without('logs')(method, about, result),
    /block 5: its receipts leave logs out, and .*eth_getLogs has one of block/,
  ],
  [
    'no logs in a receipt, and fewer elsewhere than in the others',
    (method, _about, result) => {
      if (isReceipts(method)) each([result].flat(), (receipt) => hasNone(receipt) && delete receipt['logs']);
      return method === 'eth_getLogs' ? result.slice(1) : result;
    },
    /block 5: its receipts leave logs out, and .*eth_getLogs has 1 of .* its receipt 2/,
  ],
  [
    'transactions as hashes, and others by hash',
    (method, about, result) =>
      method === 'eth_getTransactionByHash' ? { ...result, hash: OTHER } : hashesOnly(method, about, result),
    /block 5: the node sent transaction 0x99.* instead of/,
  ],
  [
    'transactions as hashes, and null by hash',
    (method, about, result) =>
      method === 'eth_getTransactionByHash' ? null : hashesOnly(method, about, result),
    /the node does not have the transactions of block 5/,
  ],
  [
    'transactions in another order than all else',
    (method, about, result) => {
      noIndexes(method, about, result);
      const { transactions } = result;
      const isFull = method === 'eth_getBlockByNumber' && typeof (transactions as unknown[])[0] === 'object';
      return isFull ? { ...result, transactions: (transactions as unknown[]).toReversed() } : result;
    },
    /block 5: the receipts of block .* have another order than its transactions/,
  ],
];
for (const [what, tell, message] of refused)
  test(`a block is refused with ${what}`, async (t) => {
    const { load, tells } = await listener(t, true);
    tells(tell);
    await assert.rejects(load(), (error) => {
      assert.ok(error instanceof UpstreamError, String(error));
      assert.match(error.message, message);
      return true;
    });
  });

test('receipts that name only the number of their block are its own while the node has it there', async (t) => {
  for (const isListed of [true, false]) {
    const { load, tells } = await listener(t, isListed);
    const usual = await load();
    const nameless: Tell = (method, about, result) =>
      isList(method) && !isByNumber(method, about) ? fail() : without('blockHash')(method, about, result);
    tells(nameless);
    assert.deepEqual(await load(), usual);
    tells((method, about, result) => {
      if (isReceipts(method)) each([result].flat(), (receipt) => (receipt['blockNumber'] = '0x6'));
      return nameless(method, about, result);
    });
    await assert.rejects(load(), /block 5: its receipts do not name it \(blockHash\)/, 'another number');
    let asks = 0;
    tells((method, about, result) =>
      method === 'eth_getBlockByNumber' && ++asks > 2
        ? { ...result, hash: OTHER }
        : nameless(method, about, result),
    );
    await assert.rejects(load(), /block 5: its receipts do not name it \(blockHash\)/, 'another block');
  }
  assert.equal(RECEIPTS.length, HASHES.length);
});

/** The frames of a tree as trace_block lists them. */
function flat(tx: Members, frame: Members, traceAddress: number[] = []): Members[] {
  const { type, from, to, value, input, error, calls = [] } = frame;
  const callType = String(type).toLowerCase();
  const action = { callType, from, to, value, input };
  const inner = (calls as Members[]).flatMap((call, i) => flat(tx, call, [...traceAddress, i]));
  return [{ type: 'call', action, error, result: {}, traceAddress, ...tx }, ...inner];
}

test('flat traces that do not name their block are its own while the node has it there', async (t) => {
  const { load, rules, tells } = await listener(t, true);
  const usual = await load();
  const known = { ...rules(), traces: 'trace_block' as const };
  const { block, traces } = honestBlock(BLOCK);
  const list = (place: Members) =>
    traces.flatMap(({ txHash, result }) =>
      flat({ transactionHash: txHash, blockNumber: block['number'], ...place }, result as Members),
    );
  const answers = (traced: unknown, header: Members = {}) =>
    tells((method, _about, result) => {
      if (method === 'trace_block') return traced;
      const isHeader =
        method === 'eth_getBlockByNumber' && typeof (result['transactions'] as unknown[])[0] === 'string';
      return isHeader ? { ...result, ...header } : result;
    });
  answers(list({ blockHash: block['hash'] }), { hash: OTHER });
  assert.deepEqual(await load(known), usual, 'no header is needed where they do');
  answers(list({}));
  assert.deepEqual(await load(known), usual);
  answers(list({}), { hash: OTHER });
  await assert.rejects(load(known), /changed while it was traced/);
  const [first, ...others] = list({});
  answers([{ ...first, blockHash: block['hash'] }, ...others]);
  await assert.rejects(load(known), /traces of block/, 'some name it');
});
