/** What the service manager is told while the daemon runs: that it is ready, how far the index is, that it lives. */
import type { Daemon } from '../daemon.ts';
import { lagBlocks } from '../lib/lag.ts';
import type { IndexStatus } from '../types.ts';
import { progressLine } from './progress.ts';
import type { Systemd } from './systemd.ts';
import { grouped } from './table.ts';

/** Between two texts for `systemctl status`, milliseconds. */
const TELL_MS = 10_000;

/** While it starts, a daemon whose event loop turns is given so much more time, microseconds: bringing an old index up to date can take hours. */
const START_EXTENSION_USEC = 60_000_000;

/** Chances to be heard within the time of the watchdog. */
const WATCHDOG_CHANCES = 4;

const MAX_COLUMNS = 160;

/** Asks for patience until the returned function is called. */
export function announceStart(systemd: Systemd): () => void {
  const ask = () => systemd.notify({ STATUS: 'starting', EXTEND_TIMEOUT_USEC: START_EXTENSION_USEC });
  ask();
  const timer = setInterval(ask, TELL_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Says ready, then keeps systemd informed until the returned function is called. The watchdog is fed by this event
 * loop, and only while the indexer reports too: a writer that hangs is a reason for a restart like a server that does.
 * `onSilent` is called once when that is so.
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
