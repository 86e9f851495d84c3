/** What the service manager is told while the daemon runs: that it is ready, alive, and how far the index is. */
import type { Daemon } from '../daemon.ts';
import { lagBlocks } from '../lib/lag.ts';
import type { IndexStatus } from '../types.ts';
import { progressLine } from './progress.ts';
import type { Systemd } from './systemd.ts';
import { grouped } from './table.ts';

/** Time between two status texts for `systemctl status`, milliseconds. */
const TELL_MS = 10_000;

/** Extra time asked for during the start while the event loop runs, microseconds: a migration can take hours. */
const START_EXTENSION_USEC = 60_000_000;

/** How many times WATCHDOG=1 is sent within the watchdog's time. */
const WATCHDOG_CHANCES = 4;

const MAX_COLUMNS = 160;

/** Asks for more time to start until the returned function is called. */
export function announceStart(systemd: Systemd): () => void {
  const ask = () => systemd.notify({ STATUS: 'starting', EXTEND_TIMEOUT_USEC: START_EXTENSION_USEC });
  ask();
  const timer = setInterval(ask, TELL_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Reports readiness, then keeps systemd informed until the returned function is called. This event loop feeds the
 * watchdog, and only while the indexer reports too: a writer that hangs is as much a reason for a restart as a server
 * that does. `onSilent` is called once when the indexer falls silent.
 */
export function supervise(
  systemd: Systemd,
  daemon: Pick<Daemon, 'status' | 'onStatus'>,
  onSilent: () => void,
): () => void {
  const patience = systemd.watchdogMs ?? Number.POSITIVE_INFINITY;
  let reported = performance.now();
  let silent = false;
  daemon.onStatus(() => {
    reported = performance.now();
    silent = false;
  });
  const tell = (): void => {
    const alive = performance.now() - reported < patience;
    systemd.notify({ STATUS: statusText(daemon.status()), ...(alive && { WATCHDOG: 1 }) });
    if (!alive && !silent) onSilent();
    silent = !alive;
  };
  systemd.notify({ READY: 1, STATUS: statusText(daemon.status()) });
  const timer = setInterval(tell, Math.min(TELL_MS, patience / WATCHDOG_CHANCES)).unref();
  return () => clearInterval(timer);
}

/** One line: what the index is doing. */
export function statusText(status: IndexStatus): string {
  const { phase, head } = status;
  if (phase === 'filling') return `filling: ${progressLine(status, MAX_COLUMNS)}`;
  if (phase !== 'following') return progressLine(status, MAX_COLUMNS);
  const lag = lagBlocks(status);
  return `following: block ${head ? grouped(head.number) : '-'}${lag ? `, ${grouped(lag)} behind the node` : ''}`;
}
