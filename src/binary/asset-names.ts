/** Names of what is embedded in the single binary: the build writes it, the program reads it. */

/** The SHA-256 of every native module by its name, JSON. */
export const CHECKSUMS_ASSET = 'addons.json';

/** The texts of the pages by their names, JSON. */
export const PAGES_ASSET = 'pages.json';

/** The script of a thread. */
export function threadAsset(name: string): string {
  return `${name}-thread.js`;
}
