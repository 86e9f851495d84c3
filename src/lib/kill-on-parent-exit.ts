/** Cleans up if this process dies in a way it cannot handle, such as SIGKILL. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

/** SIGTERM, then two seconds to exit cleanly: anvil needs them to remove its temporary folder. */
const END = 'read -r _; kill "$1"; sleep 2; kill -9 "$1" 2>/dev/null';
/** Waits until the children have exited, so that none still writes to the folder. */
const REMOVE = 'read -r _; sleep 3; rm -rf -- "$1"';

/** Kills a child just started when this process is gone. */
export function killOnParentExit(child: ChildProcess): void {
  if (child.pid === undefined) return; // failed to start
  const watchdog = watch(END, String(child.pid));
  child.once('exit', () => watchdog.kill('SIGKILL'));
}

/**
 * Removes a folder when this process is gone. Call the result once the folder is removed: it ends the watching shell.
 */
export function removeOnParentExit(folder: string): () => void {
  const watchdog = watch(REMOVE, folder);
  return () => void watchdog.kill('SIGKILL');
}

/** A shell that runs the rest of the script once this process's end of the pipe is closed. */
function watch(script: string, argument: string): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', script, 'atlas-watchdog', argument], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  // A machine out of processes or files has no watchdog: better than the end of this process.
  shell.on('error', () => undefined);
  shell.stdin?.on('error', () => undefined);
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell;
}
