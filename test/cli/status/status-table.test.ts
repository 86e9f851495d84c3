/** The status that `status` and the progress line print. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes, formatDuration, formatNumber, formatTable } from '../../../src/cli/format.ts';
import { daemonUrl } from '../../../src/cli/status/status-client.ts';
import { statusTable } from '../../../src/cli/status/status-table.ts';
import { progressLine } from '../../../src/cli/terminal.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import {
  type Capabilities,
  etaSeconds,
  type IndexStatus,
  lagBlocks,
} from '../../../src/model/index-status.ts';
import type { QueryReads } from '../../../src/model/query-reads.ts';
import { NOTHING_SKIPPED } from '../../../src/model/skipped-logs.ts';

function tableOf(status: IndexStatus, now: number, staleReason: string | null = null): string {
  return statusTable(
    { status, staleReason, sink: null, cluster: null, disk: null, tokenRefused: false },
    now,
  );
}

test('queries that read the index are shown, and that others wait for them', () => {
  const disk = { fileBytes: 1, walBytes: 1, freeBytes: 1, bytesPerDay: null, bytesWhenFilled: null };
  const table = (queries: QueryReads | null) =>
    unfolded(
      statusTable(
        {
          status: BACKFILLING,
          staleReason: null,
          sink: null,
          cluster: null,
          disk: { ...disk, daysUntilFull: null, queries },
          tokenRefused: false,
        },
        0,
      ),
    );
  const reads: QueryReads = { count: 2, oldestMs: 3_400, logBytes: 2 ** 24, logLimitBytes: 2 ** 26 };
  assert.match(table(reads), /^SQL +2 queries read the index, the oldest for 3 s; log 16 MiB$/m);
  assert.match(
    table({ ...reads, count: 1, logBytes: 2 ** 27 }),
    /^SQL +1 query reads the index.*; log 128 MiB, above 64 MiB: no query begins until the oldest has ended$/m,
  );
  assert.doesNotMatch(table({ ...reads, count: 0, oldestMs: null }), /^SQL/m);
  assert.doesNotMatch(table(null), /^SQL/m);
});

/** A table with each value on one line. */
function unfolded(table: string): string {
  return table.replace(/\n +(?=\S)/g, ' ');
}

const BACKFILLING: IndexStatus = {
  phase: 'backfilling',
  reason: null,
  readFailure: null,
  nodeChain: 'same',
  finality: { rule: 'depth', reason: 'the node calls no block finalized', block: 12 },
  unprovenHeaders: null,
  unchecked: null,
  nodes: [],
  startBlock: 1000,
  rules: null,
  head: { number: 1_234_567, hash: '0xabcd' },
  headTimestamp: 1_700_000_000,
  nodeHead: 2_345_678,
  blocksPerSecond: 812.4,
  transfersPerSecond: 41_234.5,
  blocksPerSecondLastMinute: 812.4,
  transfers: 98_765_432,
  capabilities: null,
  untraced: null,
  logGaps: null,
  derived: [],
  tradeChanges: [],
  ...NOTHING_SKIPPED,
  startedAt: 1_700_000_000_000,
  reorgs: 0,
  deepestReorg: 0,
  lastCommitAt: null,
};

const ANVIL: Capabilities = {
  client: 'anvil/v1',
  chainId: 31_337,
  traces: null,
  tracesReason: 'index.traces is false',
  blockReceipts: true,
  headTag: 'latest',
};

test('the progress line shows height, rates, lag and ETA', () => {
  assert.equal(
    progressLine(BACKFILLING, 200),
    'block 1,234,567 of 2,345,678  812 blocks/s  41,235 transfers/s  lag 1,111,111  ETA 22 min 48 s',
  );
});

test('the progress line fits the width by omitting whole parts from the end', () => {
  assert.equal(progressLine(BACKFILLING, 60), 'block 1,234,567 of 2,345,678  812 blocks/s');
  for (let columns = 0; columns < 120; columns++)
    assert.ok(progressLine(BACKFILLING, columns).length <= columns);
});

test('the progress line says why there is no progress, and is empty at the head', () => {
  const waiting = { ...BACKFILLING, phase: 'starting' as const, reason: 'connection refused' };
  assert.equal(progressLine(waiting, 100), 'waiting for the node: connection refused');
  const connected = { ...waiting, reason: null, head: null, capabilities: ANVIL };
  assert.equal(progressLine(connected, 100), 'looking for the first block');
  assert.equal(
    progressLine({ ...BACKFILLING, phase: 'paused', reason: 'disk full' }, 100),
    'paused: disk full',
  );
  assert.equal(progressLine({ ...BACKFILLING, phase: 'following' }, 100), '');
});

test('lag counts from before the first block while the index is empty, and ETA needs a rate', () => {
  assert.equal(lagBlocks({ ...BACKFILLING, head: null }), 2_345_678 - 999);
  assert.equal(lagBlocks({ ...BACKFILLING, nodeHead: null }), null);
  assert.equal(etaSeconds({ ...BACKFILLING, blocksPerSecondLastMinute: 0 }), null);
  assert.equal(etaSeconds({ ...BACKFILLING, nodeHead: 1_234_567, blocksPerSecondLastMinute: 0 }), 0);
});

test('numbers, durations and sizes are formatted for people', () => {
  assert.deepEqual([0, 0.25, 9.96, 1234.5].map(formatNumber), ['0', '0.3', '10', '1,235']);
  assert.deepEqual([0, 59.6, 3_599, 7_260, 200_000].map(formatDuration), [
    '0 s',
    '1 min 0 s',
    '59 min 59 s',
    '2 h 1 min',
    '2 d 7 h',
  ]);
  assert.deepEqual([0, 1023, 1536, 5 * 1024 ** 3].map(formatBytes), ['0 B', '1,023 B', '1.5 KiB', '5 GiB']);
});

test('columns are as wide as their widest cell, numbers right-aligned', () => {
  assert.equal(
    formatTable(
      ['NAME', 'N'],
      [
        ['a', 1],
        ['long name', 1200],
      ],
    ),
    'NAME           N\na              1\nlong name  1,200',
  );
  assert.equal(formatTable(['NAME', 'N'], []), 'NAME  N');
});

test('the status table says what a rebuild would change, and how many blocks it reads', () => {
  const rules = { version: 1, newest: 1, changes: [], isConfigured: false };
  assert.match(unfolded(tableOf({ ...BACKFILLING, rules }, 0)), /^rules +1$/m);
  const changed = { ...rules, newest: 2, changes: ['one change', 'another one'] };
  const rebuilding = tableOf({ ...BACKFILLING, rules: changed }, 0);
  assert.match(rebuilding, /^rules +1; a new index gets 2\nrebuilding +reads 1,233,568 blocks again; /m);
  assert.match(rebuilding, /blocks again; it would change:\n +one change\n +another one$/m);
});

test('the status table reports a read failure once', () => {
  const readFailure = 'index.db is damaged (...): restore a backup';
  const table = (status: Partial<IndexStatus>) => tableOf({ ...BACKFILLING, ...status }, 1_700_000_060_000);
  assert.match(table({ readFailure }), /\nreads +index\.db is damaged \(\.\.\.\): restore a backup\n/);
  const stopped = table({ phase: 'paused', readFailure, reason: `indexing has stopped: ${readFailure}` });
  assert.equal(stopped.split('is damaged').length, 2);
  assert.doesNotMatch(table({}), /reads/);
});

test('the status table shows state, range, lag and the capabilities of the node', () => {
  const status: IndexStatus = {
    ...BACKFILLING,
    skippedLogs: { 'short data': 3, topics: 1_200 },
    skippedContracts: [
      { contract: '0xabcd', reason: 'topics', logs: 1_100, txHash: '0xef' },
      { contract: '0xdcba', reason: 'short data', logs: 3, txHash: '0xef' },
    ],
    reorgs: 2,
    deepestReorg: 5,
    lastCommitAt: 1_700_000_058_000,
    capabilities: ANVIL,
  };
  const lines = tableOf(status, 1_700_000_060_000)
    .split('\n')
    .filter(Boolean)
    .map((line) => line.replace(/ {2,}/, ': '));
  assert.deepEqual(lines, [
    'state: backfilling',
    'backfill: [###############---------------] 52.6 %',
    'ETA: 22 min 48 s',
    'index: blocks 1,000 to 1,234,567, no holes',
    'head block: 0xabcd, 2023-11-14T22:13:20.000Z',
    'node head: 2,345,678',
    'node chain: the indexed one',
    'final: up to block 12, by depth: the node calls no block finalized',
    'lag: 1,111,111 blocks, 1 min 0 s',
    'rate: 812 blocks/s, 41,235 transfers/s',
    'last commit: 2 s ago',
    'transfers: 98,765,432',
    'skipped logs: about short data 3, topics 1,200',
    ': 0xabcd topics 1,100',
    ': 0xdcba short data 3',
    'reorgs: 2 since the daemon started 1 min 0 s ago, deepest 5 blocks',
    'node: anvil/v1',
    'chain id: 31337',
    'follows: latest blocks (rolls back reorgs)',
    'internal transfers: no: index.traces is false',
    'block receipts: yes',
  ]);
  const traced = { ...ANVIL, traces: 'trace_block' as const, tracesReason: null };
  const transfersRow = (untraced: IndexStatus['untraced']) => {
    const table = tableOf({ ...status, capabilities: traced, untraced }, 0);
    assert.ok(
      table.split('\n').every((line) => line.length <= 80),
      table,
    );
    return unfolded(table).match(/^internal transfers +(.*)$/m)?.[1];
  };
  assert.equal(transfersRow(null), 'yes, by trace_block');
  assert.match(
    transfersRow({ first: 2_000, last: 2_999, blocks: 1_000, reasons: [] }) ?? '',
    /^no: blocks 2000 to 2999 were indexed without traces; .* run "atlas-node verify --repair 2000\.\.2999"/,
  );
});

test('the status table reports a stopped chain and the time of the last commit', () => {
  const status: IndexStatus = { ...BACKFILLING, phase: 'following' };
  const staleReason = 'the chain stands still: the newest block is from 2023-11-14T22:13:20.000Z';
  const now = 1_700_086_400_000;
  const table = unfolded(tableOf(status, now, staleReason));
  const row = (name: string) => new RegExp(`^${name} +(.*)$`, 'm').exec(table)?.[1];
  assert.equal(row('state'), `following: ${staleReason}`);
  assert.equal(row('node head'), '2,345,678');
  const paused = { ...status, phase: 'paused' as const, reason: 'the node does not answer' };
  const pausedTable = tableOf(paused, now);
  assert.match(pausedTable, /^node head +2,345,678, as last read$/m);
  const since = 'since the daemon started 1 d 0 h ago';
  assert.equal(row('last commit'), `none ${since}`);
  assert.equal(row('skipped logs'), '0');
  assert.equal(row('reorgs'), `0 ${since}`);
});

test('the daemon of a configuration is reached locally, whatever address it listens on', () => {
  const url = (host: string) => daemonUrl(parseConfig({ flags: { '--host': host } }).config);
  assert.equal(url('0.0.0.0'), 'http://127.0.0.1:8650');
  assert.equal(url('::'), 'http://[::1]:8650');
  assert.equal(url('atlas.example'), 'http://atlas.example:8650');
});
