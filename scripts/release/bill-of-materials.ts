/** The software bill of materials of a release, in CycloneDX: what the builds put into the files, and nothing else. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltPackage, idOf } from '../binary/packages.ts';
import type { ReleaseInputs } from './inputs.ts';

/** The packages of each platform's files, by platform. */
export type PlatformPackages = ReadonlyMap<string, readonly BuiltPackage[]>;

/** Writes `<name>-<version>.cdx.json` and returns its path. The same packages yield the same bytes. */
export function writeBillOfMaterials(
  { out, manifest }: Pick<ReleaseInputs, 'out' | 'manifest'>,
  packages: PlatformPackages,
): string {
  const file = join(out, `${manifest.name}-${manifest.version}.cdx.json`);
  const { name, version, description, license } = manifest;
  const purl = `pkg:npm/${idOf(manifest)}`;
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialNumber(JSON.stringify([...packages])),
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': purl,
        name,
        version,
        description,
        ...licensed(license),
        purl,
      },
    },
    components: componentsOf(packages),
  };
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
  return file;
}

/** One component per package, with the platforms whose files contain it. */
function componentsOf(packages: PlatformPackages) {
  const found = new Map<string, { built: BuiltPackage; platforms: string[] }>();
  for (const [platform, list] of packages)
    for (const built of list) {
      const entry = found.get(idOf(built));
      if (entry === undefined) found.set(idOf(built), { built, platforms: [platform] });
      else if (!entry.platforms.includes(platform)) entry.platforms.push(platform);
    }
  return [...found.values()]
    .sort((a, b) => (idOf(a.built) < idOf(b.built) ? -1 : 1))
    .map(({ built, platforms }) => component(built, platforms));
}

function component(built: BuiltPackage, platforms: readonly string[]) {
  const [, group, name] = /^(?:(@[^/]+)\/)?(.+)$/.exec(built.name) ?? [];
  const purl = `pkg:npm/${idOf(built)}`;
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group !== undefined && { group }),
    name,
    version: built.version,
    ...licensed(built.license),
    hashes: [{ alg: 'SHA-512', content: built.sha512 }],
    purl,
    properties: platforms.map((value) => ({ name: 'atlas-node:platform', value })),
  };
}

/** A choice of licences is an expression. */
function licensed(license: string | null) {
  if (license === null) return {};
  return { licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }] };
}

/** Of the contents, not of the day, so that the same release has the same number. */
function serialNumber(contents: string): string {
  const hex = createHash('sha256').update(contents).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
  ];
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join('-')}`;
}
