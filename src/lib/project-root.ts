/** The project's folder, from its sources and from its bundle alike. The single binary has none. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_ROOT = nearestPackage(dirname(fileURLToPath(import.meta.url)));

function nearestPackage(folder: string): string {
  if (existsSync(join(folder, 'package.json')) || folder === dirname(folder)) return folder;
  return nearestPackage(dirname(folder));
}
