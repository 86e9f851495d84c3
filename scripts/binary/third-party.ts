/** The licences of the packages that a build contains. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
  author: z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]).optional(),
});

/** The texts of licences whose packages come without one, by SPDX name. */
const STANDARD_TEXTS = fileURLToPath(new URL('licenses', import.meta.url));

const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

/** One section per package, by name: version, licence and the full text of its licence files. */
export function thirdPartyNotices(root: string, packages: Iterable<string>): string {
  const sections = [...packages].map((folder) => section(join(root, folder))).sort();
  return `atlas-node contains the following packages.\n\n${sections.join('\n')}`;
}

function section(folder: string): string {
  const { name, version, license, author } = manifest.parse(
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
  );
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (license === undefined && texts.length === 0) throw new Error(`${name} states no licence`);
  if (texts.length === 0) texts.push(standardText(license ?? '', author));
  const rule = '-'.repeat(78);
  return `${name} ${version} (${license ?? 'see below'})\n${rule}\n${texts.join('\n\n')}\n`;
}

/** The text that a licence's name stands for. Throws for a licence that needs another file in `licenses`. */
function standardText(license: string, author: string | undefined): string {
  if (!readdirSync(STANDARD_TEXTS).includes(`${license}.txt`))
    throw new Error(`scripts/binary/licenses has no text of ${license}, and the package has none either`);
  const text = readFileSync(join(STANDARD_TEXTS, `${license}.txt`), 'utf8').trim();
  const holder = author?.replace(/ *[<(].*$/, '') ?? 'the authors';
  return text.replace('COPYRIGHT HOLDERS', holder);
}
