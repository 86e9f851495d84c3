/** Runs the program's bundle. In a checkout, builds it first when a source has changed since. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { areCurrent, buildFolder, ROOT, readManifest } from './builds.mjs';

const BUILD_SCRIPT = join(ROOT, 'scripts', 'build', 'build.ts');

if (existsSync(BUILD_SCRIPT) && !(await areCurrent())) await build();
const entry = readManifest('program')?.files[0] ?? fail('the program is not built');
await import(pathToFileURL(join(buildFolder('program'), entry)).href);

/** In a process of its own, whose memory the daemon does not keep. */
async function build() {
  const { spawnSync } = await import('node:child_process');
  const args = ['--disable-warning=ExperimentalWarning', BUILD_SCRIPT];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) fail('its sources have changed, and it cannot be built');
}

/**
 * @param {string} reason
 * @returns {never}
 */
function fail(reason) {
  process.stderr.write(`atlas-node: ${reason}; run: npm --prefix '${ROOT}' run setup\n`);
  process.exit(1);
}
