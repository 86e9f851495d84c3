/** Starts Node like bin/atlas-node, so that every process has the daemon's flags and settings. */
import { fileURLToPath } from 'node:url';
import { RUNTIME_ENV, RUNTIME_FLAGS } from '../../runtime-flags.ts';

const ROOT = new URL('../../../', import.meta.url);

/** The command line that runs the program. */
export function programCommand(...args: string[]): string[] {
  return [process.execPath, ...RUNTIME_FLAGS, fileURLToPath(new URL('bin/program.mjs', ROOT)), ...args];
}

/** The command line that runs a source below the project's root. */
export function sourceCommand(file: string, ...args: string[]): string[] {
  const flags = [...RUNTIME_FLAGS, '--import', import.meta.resolve('tsx')];
  return [process.execPath, ...flags, fileURLToPath(new URL(file, ROOT)), ...args];
}

/** Replaces this process by the same program with the daemon's flags and settings, unless it has them. */
export function ensureDaemonFlags(file: string): void {
  if (RUNTIME_FLAGS.every((flag) => process.execArgv.includes(flag))) return;
  const command = sourceCommand(file, ...process.argv.slice(2));
  process.execve?.(process.execPath, command, { ...RUNTIME_ENV, ...process.env });
}
