/** The files of the pages, read once at start. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folders that are served. */
const FOLDERS = ['ui', 'panel', 'explorer', 'docs'] as const;

/** Extensions that are served; other files in the folders are not. */
const SERVED = /\.(html|css|js|svg)$/;

/** Contents by `folder/name`. The single binary replaces this module. */
export function loadAssets(): ReadonlyMap<string, Buffer> {
  const assets = new Map<string, Buffer>();
  for (const folder of FOLDERS) {
    const root = fileURLToPath(new URL(`../../pages/${folder}/`, import.meta.url));
    for (const name of readdirSync(root)) {
      if (SERVED.test(name)) assets.set(`${folder}/${name}`, readFileSync(root + name));
    }
  }
  return assets;
}
