/** Names of the assets in the single binary, which the build writes and the program reads. */

/** The SHA-256 of every native module by its name, JSON. */
export const CHECKSUMS_ASSET = 'addons.json';

/** The texts of the pages by their names, JSON. */
export const PAGES_ASSET = 'pages.json';

/** The script of a thread. */
export function threadAsset(name: string): string {
  return `${name}-thread.js`;
}
