/** What the service manager is sent while the daemon runs: that it is ready, alive, and how far the index is. */
import type { Daemon } from '../daemon.ts';
import { lagBlocks } from '../lib/lag.ts';
import type { IndexStatus } from '../types.ts';
import { formatNumber } from './format.ts';
import { progressLine } from './progress.ts';
import type { Systemd } from './systemd-notify.ts';

/** Time between two status texts for `systemctl status`, milliseconds. */
const STATUS_INTERVAL_MS = 10_000;

/** Extra time asked for during the start while the event loop runs, microseconds: a migration can take hours. */
const START_EXTENSION_USEC = 60_000_000;

/** How many times WATCHDOG=1 is sent within the watchdog's time. */
const HEARTBEATS_PER_TIMEOUT = 4;

const MAX_COLUMNS = 160;

/** Asks for more time to start until the returned function is called. */
export function extendStartTimeout(systemd: Systemd): () => void {
  const extend = () => systemd.notify({ STATUS: 'starting', EXTEND_TIMEOUT_USEC: START_EXTENSION_USEC });
  extend();
  const timer = setInterval(extend, STATUS_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Reports readiness, then keeps systemd informed until the returned function is called. This event loop feeds the
 * watchdog, and only while the indexer reports too: a writer that hangs is as much a reason for a restart as a server
 * that does. `onSilent` is called once when the indexer falls silent.
 */
export function startHeartbeat(
  systemd: Systemd,
  daemon: Pick<Daemon, 'status' | 'onStatus'>,
  onSilent: () => void,
): () => void {
  const timeoutMs = systemd.watchdogMs ?? Number.POSITIVE_INFINITY;
  let lastReportAt = performance.now();
  let silent = false;
  daemon.onStatus(() => {
    lastReportAt = performance.now();
  });
  const sendHeartbeat = (): void => {
    const alive = performance.now() - lastReportAt < timeoutMs;
    systemd.notify({ STATUS: statusText(daemon.status()), ...(alive && { WATCHDOG: 1 }) });
    if (!alive && !silent) onSilent();
    silent = !alive;
  };
  systemd.notify({ READY: 1, STATUS: statusText(daemon.status()) });
  const timer = setInterval(
    sendHeartbeat,
    Math.min(STATUS_INTERVAL_MS, timeoutMs / HEARTBEATS_PER_TIMEOUT),
  ).unref();
  return () => clearInterval(timer);
}

/** One line: what the index is doing. */
export function statusText(status: IndexStatus): string {
  const { phase, head } = status;
  if (phase === 'filling') return `filling: ${progressLine(status, MAX_COLUMNS)}`;
  if (phase !== 'following') return progressLine(status, MAX_COLUMNS);
  const lag = lagBlocks(status);
  return `following: block ${head ? formatNumber(head.number) : '-'}${lag ? `, ${formatNumber(lag)} behind the node` : ''}`;
}
