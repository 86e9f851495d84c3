/** Starts Node like bin/atlas-node, so that every process has the daemon's flags and settings. */
import { fileURLToPath } from 'node:url';
import { RUNTIME_ENV, RUNTIME_FLAGS } from '../../runtime-flags.ts';

const ROOT = new URL('../../../', import.meta.url);
const STRIP_TYPES = fileURLToPath(new URL('bin/strip-types.cjs', ROOT));

const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', ...RUNTIME_FLAGS, '--require', STRIP_TYPES];

/** The command line that runs a file below the project's root. */
export function programCommand(file: string, ...args: string[]): string[] {
  return [process.execPath, ...NODE_FLAGS, fileURLToPath(new URL(file, ROOT)), ...args];
}

/** Replaces this process by the same program with the daemon's flags and settings, unless it has them. */
export function ensureDaemonFlags(file: string): void {
  if (RUNTIME_FLAGS.every((flag) => process.execArgv.includes(flag))) return;
  const command = programCommand(file, ...process.argv.slice(2));
  process.execve?.(process.execPath, command, { ...RUNTIME_ENV, ...process.env });
}
