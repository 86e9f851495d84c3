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

/** Removes a folder when this process is gone. */
export function removeOnParentExit(folder: string): void {
  watch(REMOVE, folder);
}

/** A shell that runs the rest of the script once this process's end of the pipe is closed. */
function watch(script: string, argument: string): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', script, 'atlas-watchdog', argument], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell;
}
