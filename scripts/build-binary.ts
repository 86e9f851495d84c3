/**
 * Builds dist/atlas-node: the runtime, the program, its threads and its native modules in one executable file, and beside
 * it THIRD_PARTY with the licences of all that the file contains.
 * `npm run build:binary`. Runs under the Node that goes into the file, since that Node also prepares the script.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKSUMS_ASSET, PAGES_ASSET, threadAsset } from '../src/binary/asset-names.ts';
import { loadAssets } from '../src/server/pages/assets.ts';
import { THREADS } from '../src/threads/entries.ts';
import { bundle } from './binary/bundle.ts';
import { commitOf } from './binary/commit.ts';
import { makeExecutable } from './binary/executable.ts';
import { nativeModules } from './binary/native-modules.ts';
import { secondsToFirstAnswer } from './binary/start-time.ts';
import { thirdPartyNotices } from './binary/third-party.ts';
import { readOptions } from './options.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What the bundles cannot show: the runtime, and the packages of which only the native module is taken. */
const NATIVE_PACKAGES = [
  `node_modules/node-${process.platform}-${process.arch}`,
  'node_modules/uWebSockets.js',
  'node_modules/better-sqlite3',
];

const { out } = readOptions('Builds the single binary.', {
  out: { kind: 'text', about: 'the file to write', default: join(ROOT, 'dist/atlas-node') },
});
await buildBinary(out);

async function buildBinary(out: string): Promise<void> {
  if (process.platform !== 'linux') throw new Error('the single binary is built on Linux, for Linux');
  mkdirSync(dirname(out), { recursive: true });
  // Next to the result, which appears whole, by a rename.
  const work = mkdtempSync(`${out}-build-`);
  try {
    const commit = commitOf(ROOT);
    const { main, assets, packages } = await writeParts(work, commit);
    const notices = join(work, 'THIRD_PARTY');
    writeFileSync(notices, thirdPartyNotices(ROOT, packages));
    renameSync(notices, join(dirname(out), 'THIRD_PARTY'));
    renameSync(makeExecutable(work, main, assets), out);
    const seconds = await secondsToFirstAnswer(out, join(work, 'data'));
    const size = (statSync(out).size / 1024 ** 2).toFixed(1);
    console.log(
      `${out}: ${size} MiB, commit ${commit}, first answer ${seconds.toFixed(2)} s after the start`,
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Writes the binary's contents to a folder. Returns files by name, where `main` is the script to run, and the folders of
 * the packages whose code they contain.
 */
async function writeParts(folder: string, commit: string) {
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const assets: Record<string, string> = { ...nativeModules() };
  const checksums = Object.entries(assets).map(([name, file]) => [name, sha256(file)]);
  assets[CHECKSUMS_ASSET] = write(CHECKSUMS_ASSET, JSON.stringify(Object.fromEntries(checksums)));
  const pages = [...(await loadAssets())].map(([name, body]) => [name, body.toString('utf8')]);
  assets[PAGES_ASSET] = write(PAGES_ASSET, JSON.stringify(Object.fromEntries(pages)));
  const packages = new Set(NATIVE_PACKAGES);
  const writeScript = async (name: string, entry: string) => {
    const bundled = await bundle(entry, commit);
    for (const folder of bundled.packages) packages.add(folder);
    return write(name, bundled.script);
  };
  for (const [name, entry] of Object.entries(THREADS)) {
    const asset = threadAsset(name);
    assets[asset] = await writeScript(asset, fileURLToPath(entry));
  }
  return { main: await writeScript('main.js', join(ROOT, 'src/cli.ts')), assets, packages };
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
