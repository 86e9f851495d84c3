/** The files of the pages, loaded at startup from dist/pages. The single binary replaces this module. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { codeOf, FatalError } from '../../lib/errors.ts';
import { PROJECT_ROOT } from '../../lib/project-root.ts';

const PAGES = join(PROJECT_ROOT, 'dist/pages');

/** What the build lists about its results; bin/builds.mjs has the rest. */
const manifestSchema = z.object({ files: z.array(z.string()) });

/** Contents by path. A page is `<name>.html`; all other files carry a digest in their names. */
export async function loadAssets(): Promise<ReadonlyMap<string, Buffer>> {
  try {
    const { files } = manifestSchema.parse(JSON.parse(readFileSync(join(PAGES, 'manifest.json'), 'utf8')));
    return new Map(files.map((name) => [name, readFileSync(join(PAGES, name))]));
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    throw new FatalError('the pages in dist/pages are missing: run `npm run setup` in the project', {
      cause,
    });
  }
}
