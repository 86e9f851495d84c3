/** The daemon's state as the panel's API returns it. Pure functions. */

import { versionText } from '../../lib/version.ts';
import type { Activity } from '../../metrics/activity.ts';
import type { IndexStats, IndexStatsState } from '../../model/index-stats.ts';
import type { QueryReads } from '../../model/query-reads.ts';
import type { describeStatus } from '../http/health.ts';
import type { LiveSocket } from '../ws/connections.ts';

type Status = ReturnType<typeof describeStatus>;

/** The state at a glance. `status` contains every part with a state of its own, such as the sink. */
export function describeOverview(
  status: Status,
  activity: Activity,
  counts: { sockets: number; hooks: number; labels: number },
) {
  return { version: versionText, status, activity, ...counts };
}

/** Most sockets listed individually. The totals include all sockets. */
const MAX_LISTED = 200;

/** Totals by endpoint and topic, and the sockets with the largest backlog. */
export function describeSockets(sockets: readonly LiveSocket[]) {
  const endpoints: Record<string, number> = {};
  const topics: Record<string, number> = {};
  for (const socket of sockets) {
    endpoints[socket.endpoint] = (endpoints[socket.endpoint] ?? 0) + 1;
    for (const topic of socket.topics) topics[topic] = (topics[topic] ?? 0) + 1;
  }
  const listed = [...sockets].sort((a, b) => b.backlogBytes - a.backlogBytes || a.openedAt - b.openedAt);
  return {
    total: sockets.length,
    endpoints,
    topics,
    sockets: listed.slice(0, MAX_LISTED).map(({ openedAt, ...socket }) => ({
      ...socket,
      openedAt: new Date(openedAt).toISOString(),
    })),
  };
}

/** Current sizes. The stats may be minutes old. */
export interface DiskSizes extends Pick<IndexStats, 'fileBytes' | 'walBytes' | 'freeBytes'> {
  /** SQL queries that read the index, of all processes, and what of the log they can hold back. */
  queries: QueryReads;
}

/** The index, its contents, and a forecast of its size. */
export function describeIndex(status: Status, stats: IndexStatsState & { disk: DiskSizes | undefined }) {
  const { latest, failure, disk } = stats;
  return {
    status,
    survey: latest === null ? null : { ...latest, ...disk, at: new Date(latest.at).toISOString() },
    surveyFailure: failure,
    forecast: latest === null ? null : forecast(status, latest),
  };
}

interface Forecast {
  bytesPerDay: number | null;
  bytesWhenFilled: number | null;
  daysUntilFull: number | null;
}

/**
 * Predicts the file size after the backfill and how long the disk will then last; null where unknown. Bytes per
 * transfer hardly change while a file grows, but transfers per block do, so the forecast assumes that missing blocks
 * are as busy as the newest indexed ones. Starts from the block at which the stats were measured.
 */
function forecast({ startBlock, nodeHead }: Status, stats: IndexStats): Forecast {
  const { fileBytes, freeBytes, growth, head, transfers } = stats;
  if (head === null || startBlock === null || transfers === 0)
    return { bytesPerDay: null, bytesWhenFilled: null, daysUntilFull: null };
  const bytesPerTransfer = fileBytes / transfers;
  const perBlock = growth?.transfersPerBlock ?? transfers / (head - startBlock + 1);
  const missing = Math.max(0, (nodeHead ?? head) - head) * perBlock * bytesPerTransfer;
  const bytesPerDay = growth === null ? null : Math.round(growth.transfersPerDay * bytesPerTransfer);
  return {
    bytesPerDay,
    bytesWhenFilled: Math.round(fileBytes + missing),
    daysUntilFull: bytesPerDay ? Math.max(0, Math.floor((freeBytes - missing) / bytesPerDay)) : null,
  };
}
