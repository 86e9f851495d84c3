/**
 * Builds dist/program and dist/pages, each unless its sources are those of the last build. scripts/setup.mjs runs it,
 * and the launcher of a checkout when a source has changed. Needs only what the program itself runs on, hence no tsx.
 */
import { isCurrent } from '../../bin/builds.mjs';
import { bundleProgram } from './bundle.ts';
import { bundlePages } from './pages.ts';
import { keepNewest, writeBuild } from './write-build.ts';

/** Daemons that still run load parts of earlier builds. */
const KEPT_BUILDS = 10;

if (!(await isCurrent('pages'))) await writeBuild('pages', bundlePages);
if (!(await isCurrent('program'))) {
  await writeBuild('program', bundleProgram);
  keepNewest('program', KEPT_BUILDS);
}
