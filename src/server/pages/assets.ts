/** The files of the pages, loaded at startup. The single binary replaces this module. */
import { FatalError } from '../../lib/errors.ts';
import { buildPages, readBuiltPages } from './build-pages.ts';

/** Contents by path. A page is `<name>.html`; all other files carry a digest in their names. */
export async function loadAssets(): Promise<ReadonlyMap<string, Buffer>> {
  const built = readBuiltPages();
  if (built?.isCurrent) return built.files;
  try {
    return await buildPages();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')) throw cause;
    if (built !== null) return built.files; // an installed package has no esbuild
    throw new FatalError('the pages in dist/pages are missing: run `npm run setup` in the project', {
      cause,
    });
  }
}
