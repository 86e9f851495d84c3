/** A daemon's status as text. */

import type { ClusterStatus } from '../../model/cluster-status.ts';
import { followsFinal } from '../../model/finality.ts';
import {
  type Capabilities,
  etaSeconds,
  type IndexStatus,
  internalTransfers,
  lagBlocks,
  lagSeconds,
  logGapsAdvice,
  logGapsText,
  type NodeChain,
  type NodeHealth,
  type NodeStatus,
  rebuildBlocks,
} from '../../model/index-status.ts';
import type { QueryReads } from '../../model/query-reads.ts';
import type { SinkStatus } from '../../model/sink-status.ts';
import { formatBytes, formatDuration, formatGroups, formatNumber, type Paint, plain } from '../format.ts';
import type { DiskReport, StatusReport } from './status-client.ts';

type StatusEntry = readonly [name: string, value: string];

const TOKEN_REFUSED =
  'unavailable: the daemon runs with another admin_token than this configuration; restart it, or pass its token';

/** Rows in groups: the index, the node, PostgreSQL, the disk. `now` in Unix milliseconds. */
export function statusTable(report: StatusReport, now: number, paint: Paint = plain): string {
  const { status, sink, cluster, staleReason, disk, tokenRefused } = report;
  const { capabilities } = status;
  return formatGroups([
    indexRows(status, staleReason, now, paint),
    capabilities === null ? [] : capabilityRows(capabilities, internalTransfers(status).reason),
    (status.nodes ?? []).map((node) => nodeRow(node, paint)),
    sink === null ? [] : sinkRows(sink, now, paint),
    cluster === null ? [] : clusterRows(cluster, now, paint),
    disk === null ? [] : diskRows(status, disk),
    tokenRefused ? [['disk', TOKEN_REFUSED]] : [],
  ]);
}

function indexRows(
  status: IndexStatus,
  staleReason: string | null,
  now: number,
  paint: Paint,
): StatusEntry[] {
  const { head, headTimestamp, nodeHead, startBlock, lastCommitAt, deepestReorg } = status;
  const lag = lagBlocks(status);
  const thisRun = `since the daemon started ${agoText(status.startedAt, now)}`;
  const time = headTimestamp === null ? '' : `, ${iso(headTimestamp * 1000)}`;
  return [
    ['state', stateText(status, staleReason, paint)],
    ...readFailureRows(status, paint),
    ...(status.phase === 'backfilling' ? backfillRows(status, lag) : []),
    ['index', head ? `blocks ${height(startBlock)} to ${formatNumber(head.number)}, no holes` : 'empty'],
    ['head block', head ? `${shortHash(head.hash)}${time}` : '-'],
    ['node head', height(nodeHead) + (status.reason === null || nodeHead === null ? '' : ', as last read')],
    ['node chain', NODE_CHAINS[status.nodeChain]],
    ...finalityRows(status),
    ...headerRows(status, paint),
    ['lag', lag === null ? 'unknown' : lagText(lag, lagSeconds(status, now))],
    [
      'rate',
      `${formatNumber(status.blocksPerSecond)} blocks/s, ${formatNumber(status.transfersPerSecond)} transfers/s`,
    ],
    ['last commit', lastCommitAt === null ? `none ${thisRun}` : agoText(lastCommitAt, now)],
    ['transfers', formatNumber(status.transfers)],
    ...logGapRows(status, paint),
    ...derivedRows(status),
    ...tradeRows(status),
    ...rulesRows(status),
    ...skippedRows(status),
    [
      'reorgs',
      status.reorgs === 0
        ? `0 ${thisRun}`
        : `${formatNumber(status.reorgs)} ${thisRun}, deepest ${formatNumber(deepestReorg)} blocks`,
    ],
  ];
}

/** Enough to compare at a glance. `--json` has the whole hash. */
function shortHash(hash: string): string {
  return hash.length <= 24 ? hash : `${hash.slice(0, 12)}...${hash.slice(-8)}`;
}

const STATE_COLOURS = {
  starting: 'yellow',
  backfilling: 'yellow',
  following: 'green',
  paused: 'red',
} as const;

function stateText({ phase, reason }: IndexStatus, staleReason: string | null, paint: Paint): string {
  const shown = reason ?? staleReason;
  return paint(staleReason === null ? STATE_COLOURS[phase] : 'red', phase) + (shown ? `: ${shown}` : '');
}

/** The read failure, unless the state already shows it. */
function readFailureRows({ reason, readFailure }: IndexStatus, paint: Paint): StatusEntry[] {
  if (!readFailure || reason?.includes(readFailure)) return [];
  return [['reads', paint('red', readFailure)]];
}

/** A daemon of an earlier version does not tell. */
function rulesRows(status: IndexStatus): StatusEntry[] {
  const { rules } = status;
  if (!rules) return [];
  const blocks = rebuildBlocks(status);
  if (blocks === null) return [['rules', String(rules.version)]];
  return [
    ['rules', `${rules.version}; a new index gets ${rules.newest}`],
    ['rebuilding', `reads ${formatNumber(blocks)} blocks again; it would change:`],
    ...rules.changes.map((change) => ['', change] as const),
  ];
}

/** A daemon of an earlier version does not tell. */
function finalityRows({ finality }: Pick<IndexStatus, 'finality'>): StatusEntry[] {
  if (!finality) return [];
  const { block, rule, reason } = finality;
  return [
    ['final', `${block === null ? 'no block yet' : `up to block ${height(block)}`}, by ${rule}: ${reason}`],
  ];
}

/** A daemon of an earlier version does not tell. */
function headerRows({ unprovenHeaders, unchecked }: IndexStatus, paint: Paint): StatusEntry[] {
  const rows: StatusEntry[] = [];
  if (unprovenHeaders) rows.push(['headers', paint('yellow', `not verified: ${unprovenHeaders}`)]);
  if (unchecked) rows.push(['not checked', paint('yellow', unchecked)]);
  return rows;
}

/** A daemon of an earlier version does not tell. */
function logGapRows({ logGaps, head }: IndexStatus, paint: Paint): StatusEntry[] {
  if (!logGaps) return [];
  return [['log gaps', paint('red', `${logGapsText(logGaps)}; ${logGapsAdvice(logGaps, head)}`)]];
}

/** A daemon of an earlier version does not tell. */
function derivedRows({ derived, transfers }: IndexStatus): StatusEntry[] {
  return (derived ?? []).map(({ name, lastTransfer }) => [
    DERIVED_TITLES[name],
    `complete up to transfer ${formatNumber(lastTransfer)} of ${formatNumber(transfers)}`,
  ]);
}

const DERIVED_TITLES = {
  token_history: 'by token',
  token_mints: 'in mints',
  trade_sums: 'trade sums',
  new_trade_sums: 'new sums',
} as const satisfies Record<IndexStatus['derived'][number]['name'], string>;

/** A daemon of an earlier version does not tell. */
function tradeRows({ tradeChanges }: IndexStatus): StatusEntry[] {
  if (!tradeChanges?.length) return [];
  return [
    ['trades', 'told by the former lists until the sums by the new ones are complete; then:'],
    ...tradeChanges.map((change) => ['', change] as const),
  ];
}

const NODE_CHAINS: Record<NodeChain, string> = {
  unchecked: 'not compared yet',
  same: 'the indexed one',
  behind: 'its head is below the index',
  another_chain: 'not the indexed chain',
  reorg_too_deep: 'forks from the index deeper than index.max_reorg',
  reorg_below_finalized: 'forks from the index below a final block',
};

const BAR_CELLS = 30;

/** The indexed share of the chain, and the time for the rest. */
function backfillRows(status: IndexStatus, lag: number | null): StatusEntry[] {
  const { head, startBlock } = status;
  if (lag === null || startBlock === null) return [];
  const done = head === null ? 0 : head.number - startBlock + 1;
  const share = done / Math.max(1, done + lag);
  const bar = '#'.repeat(Math.floor(share * BAR_CELLS)).padEnd(BAR_CELLS, '-');
  const eta = etaSeconds(status);
  return [
    ['backfill', `[${bar}] ${(Math.floor(share * 1000) / 10).toFixed(1)} %`],
    ['ETA', eta === null ? 'unknown' : formatDuration(eta)],
  ];
}

function diskRows(status: IndexStatus, disk: DiskReport): StatusEntry[] {
  const { fileBytes, walBytes, freeBytes, bytesPerDay, bytesWhenFilled, daysUntilFull, queries } = disk;
  const isBackfilling = status.phase === 'backfilling' && bytesWhenFilled !== null;
  return [
    ['index.db', `${formatBytes(fileBytes)}, write-ahead log ${formatBytes(walBytes)}`],
    ...(isBackfilling ? [['after backfill', `about ${formatBytes(bytesWhenFilled)}`] as const] : []),
    ...(queries === null || queries.count === 0 ? [] : [['SQL', queriesText(queries)] as const]),
    ['free', formatBytes(freeBytes)],
    [
      'forecast',
      bytesPerDay === null
        ? 'not enough indexed blocks'
        : `${formatBytes(bytesPerDay)} a ` +
          `day${daysUntilFull === null ? '' : `, the disk is full in ${formatNumber(daysUntilFull)} days`}`,
    ],
  ];
}

/** Queries keep the write-ahead log from starting over. */
function queriesText({ count, oldestMs, logBytes, logLimitBytes }: QueryReads): string {
  const oldest = oldestMs === null ? '' : `, the oldest for ${formatDuration(oldestMs / 1000)}`;
  const isFull = logBytes > logLimitBytes;
  const above = isFull
    ? `, above ${formatBytes(logLimitBytes)}: no query begins until the oldest has ended`
    : '';
  const queries = `${formatNumber(count)} ${count === 1 ? 'query reads' : 'queries read'}`;
  return `${queries} the index${oldest}; log ${formatBytes(logBytes)}${above}`;
}

const SINK_COLOURS = { connecting: 'red', filling: 'yellow', following: 'green', waiting: 'red' } as const;

function clusterRows(cluster: ClusterStatus, now: number, paint: Paint): StatusEntry[] {
  const { state, reason, daemons, unsentRequests, lastSyncAt } = cluster;
  const unsent = unsentRequests === 0 ? '' : `, ${formatNumber(unsentRequests)} requests not sent yet`;
  return [
    [
      'shared keys',
      paint(state === 'joined' ? 'green' : 'yellow', state) + (reason === null ? '' : `: ${reason}`),
    ],
    ['daemons', daemons === null ? 'unknown' : `${formatNumber(daemons)} running`],
    ['in sync', (lastSyncAt === null ? 'not since the daemon started' : agoText(lastSyncAt, now)) + unsent],
  ];
}

function sinkRows(sink: SinkStatus, now: number, paint: Paint): StatusEntry[] {
  const { state, reason, schema, finality, block, lagBlocks, lagSeconds, lastCommitAt } = sink;
  const final = finality === 'finalized' ? ', final blocks only' : '';
  const isWhole = (sink.tradesBlock ?? -1) >= (block ?? -1);
  return [
    ['PostgreSQL', paint(SINK_COLOURS[state], state) + (reason === null ? '' : `: ${reason}`)],
    ['written', `schema ${schema} up to block ${height(block)}${final}`],
    ...(isWhole ? [] : [['trades', `written up to block ${height(sink.tradesBlock)}`] satisfies StatusEntry]),
    ['behind the index', lagBlocks === null ? 'unknown' : lagText(lagBlocks, lagSeconds)],
    ['written rate', `${formatNumber(sink.transfersPerSecond)} transfers/s`],
    ['last written', lastCommitAt === null ? 'nothing since the daemon started' : agoText(lastCommitAt, now)],
    ['failures', `${formatNumber(sink.errors)} attempts, ${formatNumber(sink.rollbacks)} rollbacks`],
  ];
}

/** `missing`: why internal transfers are missing; null when none are. */
function capabilityRows(node: Capabilities, missing: string | null): StatusEntry[] {
  return [
    ['node', node.client],
    ['chain id', String(node.chainId)],
    ['follows', followsFinal(node.headTag) ? 'final blocks only' : 'latest blocks (rolls back reorgs)'],
    ['internal transfers', missing === null ? `yes, by ${node.traces}` : `no: ${missing}`],
    ['block receipts', node.blockReceipts ? 'yes' : 'no: one call per transaction'],
  ];
}

const NODE_COLOURS: Partial<Record<NodeHealth, 'green' | 'yellow'>> = {
  healthy: 'green',
  recovering: 'yellow',
  unchecked: 'yellow',
};

/** One of several nodes. */
function nodeRow({ node, current, state, reason, head, latencyMs }: NodeStatus, paint: Paint): StatusEntry {
  const named = paint(NODE_COLOURS[state] ?? 'red', state.replace('_', ' '));
  const facts = [
    current ? `${named}, in use` : named,
    ...(head === null ? [] : [`head ${formatNumber(head)}`]),
    ...(latencyMs === null ? [] : [`${formatNumber(latencyMs)} ms`]),
  ];
  return [`node ${node}`, facts.join(', ') + (reason === null ? '' : `: ${reason}`)];
}

function agoText(at: number, now: number): string {
  return `${formatDuration(Math.max(0, now - at) / 1000)} ago`;
}

function lagText(blocks: number, seconds: number | null): string {
  const age = seconds === null ? '' : `, ${formatDuration(seconds)}`;
  return `${formatNumber(blocks)} blocks${age}`;
}

/** Since the index was made; of a daemon of an earlier version, since its start and without contracts. */
function skippedRows({ skippedLogs, skippedContracts }: IndexStatus): StatusEntry[] {
  const reasons = Object.entries(skippedLogs).map(([reason, count]) => `${reason} ${formatNumber(count)}`);
  return [
    ['skipped logs', reasons.length === 0 ? '0' : `about ${reasons.join(', ')}`],
    ...(skippedContracts ?? []).map(
      ({ contract, reason, logs }) => ['', `${contract} ${reason} ${formatNumber(logs)}`] as const,
    ),
  ];
}

function height(block: number | null): string {
  return block === null ? 'unknown' : formatNumber(block);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
