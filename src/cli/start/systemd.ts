/**
 * Notifies systemd as described in sd_notify(3). Node cannot open the required datagram socket, so a helper process
 * runs `systemd-notify`, which also supports abstract addresses. One shell serves as helper for the daemon's life,
 * because forking the daemon itself stops its event loop while its page tables are copied: 25 ms at 1 GB. The unit
 * needs NotifyAccess=all, because the sender is not the main process.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Daemon } from '../../daemon.ts';
import { onOneLine } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import { type IndexStatus, lagBlocks, lagSeconds } from '../../model/index-status.ts';
import { formatDuration, formatNumber } from '../format.ts';
import { progressLine } from '../terminal.ts';

/** Time between two status texts for `systemctl status`, milliseconds. */
const STATUS_INTERVAL_MS = 10_000;

/** Extra start time to request while the event loop runs, microseconds. A migration can take hours. */
const START_EXTENSION_USEC = 60_000_000;

/** Heartbeats (WATCHDOG=1) per watchdog timeout. */
const HEARTBEATS_PER_TIMEOUT = 4;

const MAX_COLUMNS = 160;

/** The age of the newest block is shown only above this, seconds; otherwise it would change with every block. */
const MIN_SHOWN_AGE_S = 60;

/** Keeps requesting more time to start until the returned function is called. */
export function extendStartTimeout(systemd: Systemd): () => void {
  const extend = () => systemd.notify({ STATUS: 'starting', EXTEND_TIMEOUT_USEC: START_EXTENSION_USEC });
  extend();
  const timer = setInterval(guarded('start', extend), STATUS_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Reports readiness, then keeps systemd informed until the returned function is called. Heartbeats stop when this event
 * loop or the indexer hangs, because either needs a restart. `onSilent` is called once when the indexer stops
 * reporting.
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
    guarded('heartbeat', sendHeartbeat),
    Math.min(STATUS_INTERVAL_MS, timeoutMs / HEARTBEATS_PER_TIMEOUT),
  ).unref();
  return () => clearInterval(timer);
}

/** The state of the index on one line. */
export function statusText(status: IndexStatus): string {
  const { phase, readFailure, head } = status;
  if (readFailure !== null && phase !== 'paused') return readFailure.slice(0, MAX_COLUMNS);
  if (phase === 'backfilling') return `backfilling: ${progressLine(status, MAX_COLUMNS)}`;
  if (phase !== 'following') return progressLine(status, MAX_COLUMNS);
  const lag = lagBlocks(status);
  const age = lagSeconds(status, Date.now());
  return [
    `following: block ${head ? formatNumber(head.number) : '-'}`,
    ...(lag ? [`${formatNumber(lag)} behind the node`] : []),
    ...(age !== null && age >= MIN_SHOWN_AGE_S ? [`${formatDuration(age)} old`] : []),
  ].join(', ');
}

/** The assignments of a notification, as in sd_notify(3). */
export interface Notification {
  READY?: 1;
  RELOADING?: 1;
  STOPPING?: 1;
  WATCHDOG?: 1;
  /** More time for the current operation, from now on. */
  EXTEND_TIMEOUT_USEC?: number;
  /** Microseconds of the monotonic clock; required with RELOADING. */
  MONOTONIC_USEC?: string;
  /** One line for `systemctl status`. */
  STATUS?: string;
}

export interface Systemd {
  /** The watchdog timeout, milliseconds; null when disabled. */
  watchdogMs: number | null;
  notify(notification: Notification): void;
  /** Ends the helper after it has sent all notifications. */
  close(): void;
}

/**
 * One notification per line, assignments separated by tabs. Ignores signals to the process group, because the daemon
 * still notifies while it stops.
 */
const HELPER = `
trap '' HUP INT TERM
command -v systemd-notify >/dev/null || exit 127
set -f
IFS=$(printf '\\t')
while read -r line; do
  systemd-notify $line
done`;

/** Most bytes to queue for a hanging helper. Further notifications are dropped. */
const MAX_QUEUED_BYTES = 16 * 1024;

/** Null unless systemd started this process and wants notifications. `onLost` gets the reason of a failure. */
export function connectSystemd(
  env: Record<string, string | undefined>,
  onLost: (reason: string) => void,
): Systemd | null {
  const { NOTIFY_SOCKET, PATH } = env;
  if (!NOTIFY_SOCKET) return null;
  const helper = spawn('/bin/sh', ['-c', HELPER], {
    env: { NOTIFY_SOCKET, PATH },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const input = helper.stdin;
  unrefHelper(helper);
  helper.on('error', (error) => onLost(error.message));
  helper.on('exit', (code) => {
    if (code !== 0) onLost(code === 127 ? 'there is no systemd-notify' : 'its helper ended');
  });
  input.on('error', () => undefined); // caused by the helper's exit, which is reported
  return {
    watchdogMs: parseWatchdogMs(env),
    notify: (notification) => {
      if (input.writableLength < MAX_QUEUED_BYTES) input.write(`${serializeNotification(notification)}\n`);
    },
    close: () => {
      input.end();
    },
  };
}

/** Lets this process exit despite the helper and its pipe. */
function unrefHelper(helper: ChildProcess): void {
  helper.unref();
  if (helper.stdin instanceof Socket) helper.stdin.unref();
}

/** Control characters would end an assignment, so they become spaces. */
function serializeNotification(notification: Notification): string {
  return Object.entries(notification)
    .map(([name, value]) => `${name}=${onOneLine(String(value))}`)
    .join('\t');
}

/** Null when the watchdog is disabled or meant for another process. */
function parseWatchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Record<string, string | undefined>): number | null {
  if (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== process.pid) return null;
  const ms = Number(WATCHDOG_USEC ?? 0) / 1000;
  return ms > 0 ? ms : null;
}
