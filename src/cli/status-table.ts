/** A daemon's status as text. */
import { internalTransfers } from '../lib/internal-transfers.ts';
import { etaSeconds, lagBlocks, lagSeconds } from '../lib/lag.ts';
import type { Capabilities, IndexStatus } from '../types.ts';
import { type Paint, plain } from './colour.ts';
import { formatBytes, formatDuration, formatGroups, formatNumber } from './format.ts';
import type { DiskReport, StatusReport } from './status-client.ts';

type Row = readonly [name: string, value: string];

const TOKEN_REFUSED =
  'not told: the daemon runs with another admin_token than this configuration; restart it, or give its token';

/** Rows in groups: the index, the node, the disk. `now` in Unix milliseconds. */
export function statusTable(report: StatusReport, now: number, paint: Paint = plain): string {
  const { status, disk, tokenRefused } = report;
  const { capabilities } = status;
  return formatGroups([
    indexRows(status, now, paint),
    capabilities === null ? [] : capabilityRows(capabilities, internalTransfers(status).reason),
    disk === null ? [] : diskRows(status, disk),
    tokenRefused ? [['disk', TOKEN_REFUSED]] : [],
  ]);
}

function indexRows(status: IndexStatus, now: number, paint: Paint): Row[] {
  const { head, headTimestamp, nodeHead, startBlock, lastCommitAt, deepestReorg } = status;
  const lag = lagBlocks(status);
  const time = headTimestamp === null ? '' : `, ${iso(headTimestamp * 1000)}`;
  return [
    ['state', stateText(status, paint)],
    ...(status.phase === 'filling' ? fillingRows(status, lag) : []),
    ['index', head ? `blocks ${height(startBlock)} to ${formatNumber(head.number)}, no holes` : 'empty'],
    ['head block', head ? `${head.hash}${time}` : '-'],
    ['node head', height(nodeHead)],
    ['lag', lag === null ? 'unknown' : lagText(lag, lagSeconds(status, now))],
    [
      'rate',
      `${formatNumber(status.blocksPerSecond)} blocks/s, ${formatNumber(status.transfersPerSecond)} transfers/s`,
    ],
    [
      'last commit',
      lastCommitAt === null ? 'none yet' : `${formatDuration(Math.max(0, now - lastCommitAt) / 1000)} ago`,
    ],
    ['transfers', formatNumber(status.transfers)],
    ['skipped logs', skippedText(status.skippedLogs)],
    [
      'reorgs',
      status.reorgs === 0
        ? '0'
        : `${formatNumber(status.reorgs)}, deepest ${formatNumber(deepestReorg)} blocks`,
    ],
  ];
}

const STATE_COLOURS = { starting: 'yellow', filling: 'yellow', following: 'green', paused: 'red' } as const;

function stateText({ phase, reason }: IndexStatus, paint: Paint): string {
  return paint(STATE_COLOURS[phase], phase) + (reason ? `: ${reason}` : '');
}

const BAR_CELLS = 30;

/** How much of the chain up to the head is indexed, and how long the rest takes. */
function fillingRows(status: IndexStatus, lag: number | null): Row[] {
  const { head, startBlock } = status;
  if (lag === null || startBlock === null) return [];
  const done = head === null ? 0 : head.number - startBlock + 1;
  const share = done / Math.max(1, done + lag);
  const bar = '#'.repeat(Math.floor(share * BAR_CELLS)).padEnd(BAR_CELLS, '-');
  const eta = etaSeconds(status);
  return [
    ['filled', `[${bar}] ${(Math.floor(share * 1000) / 10).toFixed(1)} %`],
    ['ETA', eta === null ? 'unknown' : formatDuration(eta)],
  ];
}

function diskRows(status: IndexStatus, disk: DiskReport): Row[] {
  const { fileBytes, walBytes, freeBytes, bytesPerDay, bytesWhenFilled, daysUntilFull } = disk;
  const filling = status.phase === 'filling' && bytesWhenFilled !== null;
  return [
    ['index.db', `${formatBytes(fileBytes)}, write-ahead log ${formatBytes(walBytes)}`],
    ...(filling ? [['when filled', `about ${formatBytes(bytesWhenFilled)}`] as const] : []),
    ['free', formatBytes(freeBytes)],
    [
      'forecast',
      bytesPerDay === null
        ? 'not enough indexed to tell'
        : `${formatBytes(bytesPerDay)} a day${daysUntilFull === null ? '' : `, the disk is full in ${formatNumber(daysUntilFull)} days`}`,
    ],
  ];
}

/** `missing`: why internal transfers are missing, null when none is. */
function capabilityRows(node: Capabilities, missing: string | null): Row[] {
  return [
    ['node', node.client],
    ['chain id', String(node.chainId)],
    [
      'follows',
      node.headTag === 'finalized'
        ? 'finalized blocks (never rolls back)'
        : 'latest blocks (rolls back reorgs)',
    ],
    ['internal transfers', missing === null ? `yes, by ${node.traces}` : `no: ${missing}`],
    ['block receipts', node.blockReceipts ? 'yes' : 'no: one call per transaction'],
  ];
}

function lagText(blocks: number, seconds: number | null): string {
  const age = seconds === null ? '' : `, ${formatDuration(seconds)}`;
  return `${formatNumber(blocks)} blocks${age}`;
}

function skippedText(skipped: Record<string, number>): string {
  const reasons = Object.entries(skipped).map(([reason, count]) => `${reason} ${formatNumber(count)}`);
  return reasons.length === 0 ? '0' : reasons.join(', ');
}

function height(block: number | null): string {
  return block === null ? 'unknown' : formatNumber(block);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
