/** A daemon's status set as text. */
import type { Capabilities, IndexStatus } from '../types.ts';
import { etaSeconds, lagBlocks } from './progress.ts';
import { duration, grouped, pairs } from './table.ts';

/** `now` in Unix milliseconds. */
export function statusTable(status: IndexStatus, now: number): string {
  const { head, headTimestamp, nodeHead, startBlock, lastCommitAt } = status;
  const lag = lagBlocks(status);
  const eta = etaSeconds(status);
  return pairs([
    ['state', status.reason ? `${status.phase}: ${status.reason}` : status.phase],
    ['index', head ? `blocks ${height(startBlock)} to ${grouped(head.number)}, no holes` : 'empty'],
    [
      'head block',
      head ? `${head.hash}${headTimestamp === null ? '' : `, ${iso(headTimestamp * 1000)}`}` : '-',
    ],
    ['node head', height(nodeHead)],
    ['lag', lag === null ? 'unknown' : lagText(lag, headTimestamp, now)],
    [
      'rate',
      `${grouped(status.blocksPerSecond)} blocks/s, ${grouped(status.transfersPerSecond)} transfers/s`,
    ],
    ...(lag ? [['ETA', eta === null ? 'unknown' : duration(eta)] as const] : []),
    [
      'last commit',
      lastCommitAt === null ? 'none yet' : `${duration(Math.max(0, now - lastCommitAt) / 1000)} ago`,
    ],
    ['transfers', grouped(status.transfers)],
    ['skipped logs', skippedText(status.skippedLogs)],
    [
      'reorgs',
      status.reorgs === 0 ? '0' : `${grouped(status.reorgs)}, deepest ${grouped(status.deepestReorg)} blocks`,
    ],
    ...(status.capabilities ? capabilityRows(status.capabilities) : []),
  ]);
}

function capabilityRows(node: Capabilities): [string, string][] {
  return [
    ['node', node.client],
    ['chain id', String(node.chainId)],
    [
      'follows',
      node.headTag === 'finalized'
        ? 'finalized blocks (never rolls back)'
        : 'latest blocks (rolls back reorgs)',
    ],
    [
      'internal transfers',
      node.traces ? `yes, by ${node.traces}` : `no: ${node.tracesReason ?? 'the node offers no traces'}`,
    ],
    ['block receipts', node.blockReceipts ? 'yes' : 'no: one call per transaction'],
  ];
}

function lagText(blocks: number, headTimestamp: number | null, now: number): string {
  const age = headTimestamp === null ? '' : `, ${duration(Math.max(0, now / 1000 - headTimestamp))}`;
  return `${grouped(blocks)} blocks${age}`;
}

function skippedText(skipped: Record<string, number>): string {
  const reasons = Object.entries(skipped).map(([reason, count]) => `${reason} ${grouped(count)}`);
  return reasons.length === 0 ? '0' : reasons.join(', ');
}

function height(block: number | null): string {
  return block === null ? 'unknown' : grouped(block);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
