/** The licences of the packages that a build contains. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

/** One section per package, by name: version, licence and the full text of its licence files. */
export function thirdPartyNotices(root: string, packages: Iterable<string>): string {
  const sections = [...packages].map((folder) => section(join(root, folder))).sort();
  return `atlas-node contains the following packages.\n\n${sections.join('\n')}`;
}

function section(folder: string): string {
  const { name, version, license }: { name: string; version: string; license?: string } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (license === undefined && texts.length === 0) throw new Error(`${name} states no licence`);
  const rule = '-'.repeat(78);
  return `${name} ${version} (${license ?? 'see below'})\n${rule}\n${texts.join('\n\n')}\n`;
}
