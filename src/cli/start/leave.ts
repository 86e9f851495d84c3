/** The end of a process that has closed everything. */

/** Time for the process to end by itself, milliseconds. */
const LEAVE_MS = 500;

/**
 * Ends the process if it has not ended by itself shortly. A lookup at a silent name server blocks a thread for up to
 * half a minute, and `process.exit` waits for it. Replacing the process by one that exits does not.
 */
export function leaveSoon(exitCode: number): void {
  setTimeout(() => {
    try {
      process.execve?.('/bin/sh', ['sh', '-c', `exit ${exitCode}`], {});
    } catch {
      // Without a shell, as in a minimal container, only the signal is left.
    }
    process.kill(process.pid, 'SIGKILL');
  }, LEAVE_MS).unref();
}
