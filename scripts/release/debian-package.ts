/** The Debian package of a release: the single binary as a service, with its manual page. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { configText } from '../../src/cli/init.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { ReleaseInputs } from './inputs.ts';
import { manPage } from './man-page.ts';

/** Debian's name of a processor, and the oldest glibc that its native modules support. */
const SYSTEMS: Record<string, { architecture: string; glibc: string }> = {
  'linux-x64': { architecture: 'amd64', glibc: '2.34' },
  'linux-arm64': { architecture: 'arm64', glibc: '2.38' },
};

const PROGRAM = await buildProgram();

const MAINTAINER_SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm'];

const DATA_DIR = '/var/lib/atlas-node';
const REFERENCE = '/usr/share/doc/atlas-node/config.example.toml';

interface PackagedFile {
  contents: Buffer | string;
  executable?: boolean;
}

/** Writes `<name>_<version>_<architecture>.deb` and returns its path. */
export function writeDebianPackage(release: ReleaseInputs): string {
  const { out, manifest, platform, root } = release;
  const system = SYSTEMS[platform];
  if (system === undefined) throw new Error(`there is no Debian package for ${platform}`);
  const time = commitTime(root);
  const tree = mkdtempSync(join(out, 'debian-'));
  try {
    const files = packagedFiles(release, time);
    for (const [path, file] of files) write(join(tree, path), file);
    const control = controlFiles(release, system, files);
    for (const [name, file] of control) write(join(tree, 'DEBIAN', name), file);
    setTimes(tree, time);
    const deb = join(out, `${manifest.name}_${manifest.version}_${system.architecture}.deb`);
    // xz splits the data by the number of processors; gzip yields the same bytes everywhere.
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', tree, deb], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return deb;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Every installed file, by path. */
function packagedFiles(
  { root, binary, notices, manifest }: ReleaseInputs,
  time: number,
): Map<string, PackagedFile> {
  const source = (path: string) => readFileSync(join(root, path), 'utf8');
  const day = new Date(time * 1000).toISOString().slice(0, 10);
  const copyright = `${source('LICENSE')}\n${readFileSync(notices, 'utf8')}`;
  return new Map<string, PackagedFile>([
    ['/usr/bin/atlas-node', { contents: readFileSync(binary), executable: true }],
    [
      '/usr/lib/systemd/system/atlas-node.service',
      { contents: packagedUnit(source('scripts/atlas-node.service')) },
    ],
    // Not a conffile: an upgrade would ask about it, which fails without a terminal.
    ['/usr/share/atlas-node/atlas.toml', { contents: initialConfig() }],
    [REFERENCE, { contents: withDataDir(source('config.example.toml')) }],
    ['/usr/share/man/man1/atlas-node.1.gz', { contents: gzipSync(manPage(PROGRAM, manifest.version, day)) }],
    ['/usr/share/doc/atlas-node/copyright', { contents: copyright }],
    ['/usr/share/doc/atlas-node/changelog.gz', { contents: gzipSync(source('CHANGELOG.md')) }],
  ]);
}

/** The unit without the head that explains manual installation, and with the package's path of the program. */
function packagedUnit(unit: string): string {
  return unit.slice(unit.indexOf('[Unit]')).replaceAll('/usr/local/bin/', '/usr/bin/');
}

/** What postinst copies to /etc/atlas-node. That file is readable by all, so it has no place for the token. */
function initialConfig(): string {
  return configText(DATA_DIR)
    .replace('config.example.toml', REFERENCE)
    .replace(
      /^# Token of .*\nadmin_token = .*$/m,
      '# Secrets go to /etc/atlas-node/environment, such as ATLAS_ADMIN_TOKEN=... for the panel at /admin.',
    );
}

/** The example configuration with the service's folder, so that commands with `--config` find the data. */
function withDataDir(example: string): string {
  return example.replace(/^data_dir = .*$/m, `data_dir = "${DATA_DIR}"`);
}

function controlFiles(
  { root, manifest }: ReleaseInputs,
  { architecture, glibc }: { architecture: string; glibc: string },
  files: Map<string, PackagedFile>,
): Map<string, PackagedFile> {
  const bytes = [...files.values()].reduce((sum, { contents }) => sum + contents.length, 0);
  const control = [
    `Package: ${manifest.name}`,
    `Version: ${manifest.version}`,
    `Architecture: ${architecture}`,
    'Maintainer: the authors of atlas-node',
    `Installed-Size: ${Math.ceil(bytes / 1024)}`,
    `Depends: libc6 (>= ${glibc}), libstdc++6, passwd`,
    'Recommends: systemd',
    'Section: net',
    'Priority: optional',
    'Description: wallet and token intelligence beside a chain node',
    ' Indexes every transfer of an EVM chain into one SQLite file and serves REST,',
    " JSON-RPC, streams, an explorer and an operator's panel from one process.",
    '',
  ];
  const sums = [...files].map(([path, { contents }]) => {
    return `${createHash('md5').update(contents).digest('hex')}  ${path.slice(1)}\n`;
  });
  const scripts = MAINTAINER_SCRIPTS.map((name): [string, PackagedFile] => {
    return [
      name,
      { contents: readFileSync(join(root, 'scripts/release/debian', name), 'utf8'), executable: true },
    ];
  });
  return new Map<string, PackagedFile>([
    ['control', { contents: control.join('\n') }],
    ['md5sums', { contents: sums.sort().join('') }],
    ...scripts,
  ]);
}

function write(path: string, { contents, executable }: PackagedFile): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
  chmodSync(path, executable ? 0o755 : 0o644);
}

/** Gives every file and folder the same time, and folders a mode independent of the builder's umask. */
function setTimes(folder: string, time: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    lutimesSync(path, time, time);
  }
  chmodSync(folder, 0o755);
  lutimesSync(folder, time, time);
}

/** Unix seconds: SOURCE_DATE_EPOCH, or else the time of the commit. */
function commitTime(root: string): number {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given) return Number(given);
  return Number(execFileSync('git', ['-C', root, 'log', '-1', '--format=%ct'], { encoding: 'utf8' }));
}
