/** Bundles src/pages into dist/pages, unless no source has changed since the last build. scripts/setup.mjs runs it. */
import { loadAssets } from '../src/server/pages/assets.ts';

await loadAssets();
