/**
 * Builds dist/atlas-node: the runtime, the program, its threads and its native modules in one executable file, and
 * beside it THIRD_PARTY with the licences of all that the file contains.
 * `npm run build:binary`. Runs under the Node that goes into the file, or its twin for this machine's processor, since
 * that Node also prepares the script.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKSUMS_ASSET, PAGES_ASSET, threadAsset } from '../src/binary/asset-names.ts';
import { THREADS } from '../src/threads/entries.ts';
import { commitOf, requireSameCommit } from './binary/commit.ts';
import { makeExecutable } from './binary/executable.ts';
import { packagesOf } from './binary/packages.ts';
import {
  ARCHITECTURES,
  type Architecture,
  type PlatformParts,
  platformParts,
} from './binary/platform-parts.ts';
import { secondsToFirstAnswer } from './binary/start-time.ts';
import { thirdPartyNotices } from './binary/third-party.ts';
import { bundleScript } from './build/bundle.ts';
import { bundlePages } from './build/pages.ts';
import { readOptions } from './options.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const options = readOptions('Builds the single binary.', {
  out: { kind: 'text', about: 'the file to write', default: join(ROOT, 'dist/atlas-node') },
  arch: { kind: 'text', about: 'the processor it is for, x64 or arm64', default: process.arch },
  packages: { kind: 'text', about: 'a file to write, as JSON, the packages in it to', default: '' },
});
const arch = ARCHITECTURES.find((name) => name === options.arch);
if (arch === undefined) throw new Error(`there is no binary for ${options.arch}`);
await buildBinary(options.out, arch);

async function buildBinary(out: string, arch: Architecture): Promise<void> {
  if (process.platform !== 'linux') throw new Error('the single binary is built on Linux, for Linux');
  mkdirSync(dirname(out), { recursive: true });
  // Beside the result, which appears atomically, by a rename.
  const work = mkdtempSync(`${out}-build-`);
  try {
    const commit = commitOf(ROOT);
    const parts = platformParts(arch, work);
    const { main, assets, packages } = await writeContents(work, commit, parts);
    const notices = join(work, 'THIRD_PARTY');
    writeFileSync(notices, thirdPartyNotices(ROOT, packages));
    if (options.packages !== '')
      writeFileSync(options.packages, JSON.stringify(packagesOf(ROOT, packages), null, 2));
    requireSameCommit(ROOT, commit);
    renameSync(notices, join(dirname(out), 'THIRD_PARTY'));
    renameSync(makeExecutable(work, { node: parts.node, main, assets }, arch), out);
    const size = (statSync(out).size / 1024 ** 2).toFixed(1);
    const start =
      arch === process.arch
        ? `first answer ${(await secondsToFirstAnswer(out, join(work, 'data'))).toFixed(2)} s after the start`
        : `for ${arch}, not started here`;
    console.log(`${out}: ${size} MiB, commit ${commit}, ${start}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Writes the binary's contents to a folder. Returns files by name, where `main` is the script to run, and the folders
 * of the packages whose code they contain.
 */
async function writeContents(folder: string, commit: string, { modules, packages: natives }: PlatformParts) {
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const assets: Record<string, string> = { ...modules };
  const checksums = Object.entries(assets).map(([name, file]) => [name, sha256(file)]);
  assets[CHECKSUMS_ASSET] = write(CHECKSUMS_ASSET, JSON.stringify(Object.fromEntries(checksums)));
  const pages = await bundlePages();
  const texts = [...pages.files].map(([name, body]) => [name, Buffer.from(body).toString('utf8')]);
  assets[PAGES_ASSET] = write(PAGES_ASSET, JSON.stringify(Object.fromEntries(texts)));
  const packages = new Set([...natives, ...pages.packages]);
  const writeScript = async (name: string, entry: string) => {
    const bundled = await bundleScript(entry, commit);
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
