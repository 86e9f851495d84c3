/** Ends child processes when this one dies in a way that no handler can answer. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

/** Asked first; children are given two seconds to end in order. */
const SCRIPT = 'read -r _; kill "$1"; sleep 2; kill -9 "$1" 2>/dev/null';

/** A shell waits for the end of a pipe that this process holds, and then ends the child. */
export function endWithThisProcess(child: ChildProcess): void {
  const watchdog = spawn('/bin/sh', ['-c', SCRIPT, 'bench-watchdog', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
  child.once('exit', () => watchdog.kill('SIGKILL'));
}
