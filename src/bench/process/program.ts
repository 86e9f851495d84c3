/** How this program is started once more. */
import { isSea } from 'node:sea';

/** The command line of atlas-node with arguments: from the sources, or from the single binary. */
export function programCommand(...args: string[]): string[] {
  const script = process.argv[1];
  const program = isSea() || script === undefined ? [] : [...process.execArgv, script];
  return [process.execPath, ...program, ...args];
}
