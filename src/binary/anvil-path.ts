/** Finds anvil on the PATH: the single binary does not contain it. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { FatalError } from '../lib/errors.ts';

/** Path of the anvil binary. Throws a FatalError with advice if there is none. */
export function anvilPath(path: string = process.env.PATH ?? ''): string {
  const found = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'anvil'))
    .find(isExecutable);
  if (found !== undefined) return found;
  throw new FatalError(
    'anvil, the local chain, is not part of this file and not in the PATH: install Foundry, or use ' +
      '`atlas-node start` with a node of your own',
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
