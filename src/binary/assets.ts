/** The files of the pages in the single binary: one asset contains all of them. */
import { getAsset } from 'node:sea';
import { PAGES_ASSET } from './asset-names.ts';

/** Contents by path, as in src/server/pages/assets.ts. */
export async function loadAssets(): Promise<ReadonlyMap<string, Buffer>> {
  const pages: Record<string, string> = JSON.parse(getAsset(PAGES_ASSET, 'utf8'));
  return new Map(Object.entries(pages).map(([name, text]) => [name, Buffer.from(text)]));
}
