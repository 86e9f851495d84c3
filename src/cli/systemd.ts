/**
 * Speaking to systemd as sd_notify(3) does. Node cannot open the datagram socket that takes: a helper process runs
 * `systemd-notify`, which also knows abstract addresses. The helper is one shell for the daemon's life, because a
 * fork of the daemon itself stops its event loop for as long as copying its page tables takes: 25 ms at 1 GB.
 * The unit needs NotifyAccess=all, since it is not the main process that sends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

/** What systemd is told, as in sd_notify(3). */
export interface Notification {
  READY?: 1;
  RELOADING?: 1;
  STOPPING?: 1;
  WATCHDOG?: 1;
  /** Time to be given for what is under way, from now on. */
  EXTEND_TIMEOUT_USEC?: number;
  /** Microseconds of the monotonic clock; belongs to RELOADING. */
  MONOTONIC_USEC?: string;
  /** One line for `systemctl status`. */
  STATUS?: string;
}

export interface Systemd {
  /** Within this time systemd wants to hear WATCHDOG=1, milliseconds; null when it does not watch. */
  watchdogMs: number | null;
  notify(notification: Notification): void;
  /** Ends the helper once it has sent what it was given. */
  close(): void;
}

/** Each line is one notification, its assignments separated by tabs. Signals to the whole group do not end the helper: the daemon has last words. */
const HELPER = `
trap '' HUP INT TERM
command -v systemd-notify >/dev/null || exit 127
set -f
IFS=$(printf '\\t')
while read -r line; do
  systemd-notify $line
done`;

/** Bytes that may wait for a helper that hangs; what comes then is left out. */
const MAX_WAITING_BYTES = 16 * 1024;

/** Null when this process was not started by systemd, or not to notify it. `onLost` is told why nothing arrives. */
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
  letExit(helper);
  helper.on('error', (error) => onLost(error.message));
  helper.on('exit', (code) => {
    if (code !== 0) onLost(code === 127 ? 'there is no systemd-notify' : 'its helper ended');
  });
  input.on('error', () => undefined); // the exit of the helper, which it follows, was told
  return {
    watchdogMs: watchdogMs(env),
    notify: (notification) => {
      if (input.writableLength < MAX_WAITING_BYTES) input.write(`${assignments(notification)}\n`);
    },
    close: () => {
      input.end();
    },
  };
}

/** Neither the helper nor the pipe to it keeps the process running. */
function letExit(helper: ChildProcess): void {
  helper.unref();
  if (helper.stdin instanceof Socket) helper.stdin.unref();
}

/** Control characters would end an assignment. */
function assignments(notification: Notification): string {
  return Object.entries(notification)
    .map(([name, value]) => `${name}=${String(value).replace(/\p{Cc}+/gu, ' ')}`)
    .join('\t');
}

/** The time may be meant for another process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Record<string, string | undefined>): number | null {
  if (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== process.pid) return null;
  const ms = Number(WATCHDOG_USEC ?? 0) / 1000;
  return ms > 0 ? ms : null;
}
