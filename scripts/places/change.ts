/** Changes to the sources that a maintainer may want to make, as edits of the files they touch. */

export interface Edit {
  /** Path from the root of the project. */
  file: string;
  /** Occurs once in the file; absent for a new file. */
  find?: string;
  put: string;
}

export interface Change {
  name: string;
  /** Most places in `src` that it may touch. */
  goal: number;
  edits: readonly Edit[];
  /** The test files that notice a place that was forgotten, where the type check does not. */
  tests: readonly string[];
}

/** A member of the signal filter: it is declared, and selects something. */
const FILTER_MEMBER: Change = {
  name: 'a stream filter member',
  goal: 2,
  edits: [
    {
      file: 'src/model/stream-filters.ts',
      find: "  excludeMints: { type: 'flag', byDefault: false,",
      put:
        "  excludeBurns: { type: 'flag', byDefault: false, description: 'Exclude sells to the zero " +
        "address' },\n  excludeMints: { type: 'flag', byDefault: false,",
    },
    {
      file: 'src/streams/transfers/signals.ts',
      find: '  const { row } = facts;\n  const isNamed',
      put:
        '  const { row } = facts;\n  if (filter.excludeBurns && row.to === ZERO_DIGITS) return NONE;\n  ' +
        'const isNamed',
    },
    {
      file: 'test/streams/transfers/filter-effects.test.ts',
      find: '  excludeMints: {',
      put:
        '  excludeBurns: { filter: { excludeBurns: true }, excluded: { ...TOKEN, to: ZERO_DIGITS } },\n  ' +
        'excludeMints: {',
    },
  ],
  tests: ['test/streams/transfers/filter-effects.test.ts', 'test/streams/filter-schemas.test.ts'],
};

/** A field of a transfer that every face shows, computed from what the index stores. */
const FIELD: Change = {
  name: 'a field of a transfer',
  goal: 8,
  edits: [
    {
      file: 'src/model/transfer-fields.ts',
      find: "    column: { name: 'event_index', parquet: 4, postgres: 5 },\n  },\n",
      put: `    column: { name: 'event_index', parquet: 4, postgres: 5 },
  },
  {
    name: 'ordinal',
    type: 'integer',
    faces: EVERYWHERE,
    column: { name: 'ordinal', parquet: 13, postgres: 13 },
    description: 'Position among the transfers of the transaction, from 1',
  },
`,
    },
    {
      file: 'src/store/read/transfers.ts',
      find: '    eventIndex,\n    /** wallets.id */\n',
      put: '    eventIndex,\n    ordinal: eventIndex + 1,\n    /** wallets.id */\n',
    },
    {
      file: 'src/streams/transfers/batch-source.ts',
      find: '      eventIndex,\n      blockNumber:',
      put: '      eventIndex,\n      ordinal: eventIndex + 1,\n      blockNumber:',
    },
    {
      file: 'src/streams/transfers/event-json.ts',
      find: `"logIndex":\${row.logIndex},`,
      put: `"logIndex":\${row.logIndex},"ordinal":\${row.ordinal},`,
    },
    {
      file: 'src/api/transfer-record.ts',
      find: '    eventIndex: row.eventIndex,\n  };\n  if (row.uncertain',
      put: '    eventIndex: row.eventIndex,\n    ordinal: row.ordinal,\n  };\n  if (row.uncertain',
    },
    {
      file: 'src/api/fields.ts',
      find: 'slice(2),\n  eventIndex: 0,\n  blockNumber: 4711,\n',
      put: 'slice(2),\n  eventIndex: 0,\n  ordinal: 1,\n  blockNumber: 4711,\n',
    },
    {
      file: 'src/export/block-tables.ts',
      find: '    log_index: () => rows.map(',
      put: '    ordinal: () => Int32Array.from(rows, ({ ordinal }) => ordinal),\n    log_index: () => rows.map(',
    },
    {
      file: 'src/sink/batch-writer.ts',
      find: '(transfer.tokenNumber) : out.null(),\n',
      put: '(transfer.tokenNumber) : out.null(),\n        ordinal: out.int4(transfer.ordinal),\n',
    },
  ],
  tests: ['test/model/transfer-faces.test.ts', 'test/streams/transfers/record-schemas.test.ts'],
};

/** A token standard: tokens with numbers, of each of which there are many units, with a log of its own. */
const KIND: Change = {
  name: 'a token standard',
  goal: 12,
  edits: [
    {
      file: 'src/model/transfer-kind.ts',
      find: '  erc1155: 4,\n',
      put: '  erc1155: 4,\n  erc6909: 5,\n',
    },
    {
      file: 'src/model/transfer-kind.ts',
      find: '] as const satisfies readonly KindFacts[];',
      put: `  {
    code: TransferKind.erc6909,
    name: 'erc6909',
    label: 'ERC-6909',
    isNative: false,
    movesOne: false,
    hasTokenNumber: true,
  },
] as const satisfies readonly KindFacts[];`,
    },
    {
      file: 'src/decode/logs.ts',
      find: '/** `ConsecutiveTransfer(uint256,',
      put: `/** \`Transfer(address,address,address,uint256,uint256)\`, ERC-6909. */
export const TRANSFER_UNITS = '0x1b3d7edb2e9c0b0e7c525b20aaaef0f5940d2ed71663c7d39266ecafac728859';
/** \`ConsecutiveTransfer(uint256,`,
    },
    {
      file: 'src/decode/logs.ts',
      find: '      case TRANSFER_BATCH:\n',
      put: '      case TRANSFER_UNITS:\n        decodeUnits(out, log);\n        break;\n      case TRANSFER_BATCH:\n',
    },
    {
      file: 'src/decode/logs.ts',
      find: '/** ERC-1155 TransferBatch(operator,',
      put: `/** ERC-6909 Transfer(caller, from, to, id, value): caller and value are in the data. */
function decodeUnits(out: BatchBuilder, log: Log): void {
  const [, from, to, id] = log.topics;
  if (from === undefined || to === undefined || id === undefined || log.data.length !== hexLength(2))
    return out.skip('single_shape', log.emitter);
  pushBetween(out, TransferKind.erc6909, log, from, to, log.data, 66, id.slice(2));
}

/** ERC-1155 TransferBatch(operator,`,
    },
    {
      file: 'test/model/token-standards.test.ts',
      find: '  erc1155: {',
      put: `  erc6909: {
    topics: ['0x1b3d7edb2e9c0b0e7c525b20aaaef0f5940d2ed71663c7d39266ecafac728859', FROM, TO, word(7n)],
    data: [0n, 5n],
    tokenId: '7',
    amount: '5',
  },
  erc1155: {`,
    },
  ],
  tests: ['test/model/token-standards.test.ts'],
};

/** A thread: the handle starts it, talks to it, writes its log, starts it again after a failure, and stops it. */
const THREAD: Change = {
  name: 'a worker thread',
  goal: 2,
  edits: [
    {
      file: 'src/indexer/greeting-thread.ts',
      put: `/** Entry point of a thread that greets whoever asks. */
import { thread } from '../threads/thread.ts';

export default thread<string, 'greet' | 'fail', string>({}, async (name, { onMessage, post, log, stopped }) => {
  log.info({ name }, 'the thread runs');
  onMessage((message) => {
    if (message === 'fail') throw new Error('told to fail');
    post(\`hello, \${name}\`);
  });
  await stopped;
});
`,
    },
    {
      file: 'src/threads/entries.ts',
      find: '  reader: entry<',
      put: `  greeting: entry<typeof import('../indexer/greeting-thread.ts')>(
    new URL('../indexer/greeting-thread.ts', import.meta.url),
  ),
  reader: entry<`,
    },
    {
      file: 'test/threads/greeting-thread.test.ts',
      put: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ThreadHandle } from '../../src/threads/thread-handle.ts';
import { logTo } from '../support/logs.ts';
import { waitFor } from '../support/wait.ts';

test('the thread starts, answers, logs, starts again and stops', async (t) => {
  const lines: string[] = [];
  const heard: string[] = [];
  const failures: Error[] = [];
  const handle = new ThreadHandle('greeting', {
    data: () => 'world',
    restart: { firstMs: 1, longestMs: 1 },
    onMessage: (message) => heard.push(message),
    onFailure: (error) => failures.push(error),
    log: logTo(lines),
  });
  t.after(() => handle.stop(0));
  handle.post('fail');
  await waitFor(() => lines.length === 2, { what: 'the second start' });
  handle.post('greet');
  await waitFor(() => heard.length > 0, { what: 'the greeting' });
  await handle.stop();
  assert.deepEqual([heard, failures.length], [['hello, world'], 1]);
});
`,
    },
  ],
  tests: ['test/threads/greeting-thread.test.ts', 'test/threads/thread-handle.test.ts'],
};

export const CHANGES: readonly Change[] = [FIELD, FILTER_MEMBER, KIND, THREAD];
