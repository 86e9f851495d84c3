/** The README and docs/: the paths, links, commands and options that they name exist. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { document as openApi } from './support/clients/openapi.ts';
import { helpTexts } from './support/daemon/help.ts';
import { codeBlock, codeBlocks, PAGES, ROOT } from './support/docs.ts';

const README_BYTES = 9 * 1024;
const IMAGE_BYTES = 150_000;

/** The ids that GitHub assigns to the headings of a page. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Whether this is the line below a table's headings. */
function isRule(line: string): boolean {
  return /^\|[|\s:-]+$/.test(line);
}

test('every file and folder that the docs name exists', () => {
  const named = PAGES.flatMap(({ text }) =>
    [...text.matchAll(/(?:^|[\s`(])((?:src|scripts|test)\/[\w./-]*\w\/?)(?=[`\s,:;)]|\.\s|$)/gm)].map(
      ([, path = '']) => path,
    ),
  );
  assert.ok(named.length > 40, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});

test('the folder table names every folder of src', () => {
  const page = PAGES.find(({ path }) => path === 'docs/architecture.md');
  const rows = [...(page?.text ?? '').matchAll(/^\| (`[\w-]+\/`(?:, `[\w-]+\/`)*) /gm)];
  const named = rows.flatMap(([, cell = '']) => [...cell.matchAll(/[\w-]+/g)].map(String));
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  assert.deepEqual(named.sort(), folders.map(({ name }) => name).sort());
});

test('every link leads to a file that exists and to a heading in it', () => {
  const broken = PAGES.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].flatMap(([link, file = '', anchor]) => {
      const target = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file));
      if (!existsSync(join(ROOT, target))) return [`${path}: ${link}`];
      if (anchor === undefined) return [];
      const page = PAGES.find((one) => one.path === target);
      return page !== undefined && anchorsOf(page.text).includes(anchor) ? [] : [`${path}: ${link}`];
    }),
  );
  assert.deepEqual(broken, []);
});

test('the docs list every endpoint with its parameters, defaults and bounds', () => {
  const text = PAGES.map((page) => page.text).join('\n');
  const wrong = Object.entries(openApi.paths).flatMap(([path, { get }]) => {
    if (!text.includes(`${path}\``)) return [`${path} is missing`];
    const row = new RegExp(`^\\| \`${path}\` +\\| (.*) \\|$`, 'm').exec(text)?.[1] ?? '';
    const own = (get?.parameters ?? []).filter(({ name }) => name !== 'format' && name !== 'seen'); // described once
    return own.flatMap(({ name, schema }) => {
      const [, values = ''] = new RegExp(`\`${name}\`(?: \\(([^)]*)\\))?`).exec(row) ?? [];
      const documented = [schema.default, schema.maximum].filter((value) => typeof value === 'number');
      const numbers: readonly string[] = values.match(/\d[\d,]*/g) ?? [];
      const isRight =
        row.includes(`\`${name}\``) &&
        documented.every((value) => numbers.includes(value.toLocaleString('en')));
      return isRight ? [] : [`${path} ${name}: ${values}`];
    });
  });
  assert.deepEqual(wrong, []);
});

test('the example answer is the one of the API description', () => {
  const { get } = openApi.paths['/api/address_transfers'] ?? assert.fail();
  assert.deepEqual(
    JSON.parse(codeBlock('json address_transfers')),
    get?.responses[200].content['application/json'].example,
  );
});

test('every atlas-node command that the docs show exists, with its options', () => {
  // The changelog is history: it names commands that were removed.
  const current = PAGES.filter(({ path }) => path !== 'CHANGELOG.md');
  const code = current.flatMap(({ text }) => [...text.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].map(String));
  const shown = code.flatMap((one) => [
    ...one.matchAll(/\batlas-node ((?:(?:keys|labels|config) )?[a-z]+)\b([^`\n|&]*)/g),
  ]);
  const optionsOf = new Map<string, Set<string>>();
  for (const [, command = '', rest = ''] of shown) {
    if (command === 'atlas') continue; // sudo -u atlas-node atlas-node ...
    const options = optionsOf.get(command) ?? new Set();
    for (const [option] of rest.matchAll(/--[a-z-]+/g)) options.add(option);
    optionsOf.set(command, options);
  }
  assert.ok(optionsOf.size > 8, `only ${[...optionsOf.keys()]} were found`);
  const helps = helpTexts();
  for (const [command, options] of optionsOf) {
    const help = helps.get(command) ?? assert.fail(command);
    assert.ok(help.startsWith(`Usage: atlas-node ${command} `), command);
    for (const option of options) assert.ok(help.includes(option), `${command} has no ${option}`);
  }
});

test('the commands that no test runs are valid shell', async () => {
  const blocks = codeBlocks('bash');
  assert.ok(blocks.length >= 2);
  for (const block of blocks) await promisify(execFile)('bash', ['-n', '-c', block]);
});

test('every npm script that the docs name exists', () => {
  const named = PAGES.flatMap(({ text }) =>
    [...text.matchAll(/\bnpm (?:run ([\w:]+)|(start|test)\b)/g)].map(
      ([, script, own]) => script ?? own ?? '',
    ),
  );
  assert.ok(named.length > 10, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter((name) => !Object.hasOwn(manifest.scripts, name)),
    [],
  );
});

test('no table row appears twice in the docs', () => {
  const rows = PAGES.flatMap(({ text }) => {
    const lines = text.split('\n');
    return lines.filter((line, i) => line.startsWith('|') && !isRule(line) && !isRule(lines[i + 1] ?? ''));
  });
  assert.deepEqual(
    rows.filter((row, i) => rows.indexOf(row) !== i),
    [],
  );
});

test('the README and its images stay small', () => {
  assert.ok(statSync(join(ROOT, 'README.md')).size <= README_BYTES);
  for (const image of readdirSync(join(ROOT, 'docs/images')))
    assert.ok(statSync(join(ROOT, 'docs/images', image)).size <= IMAGE_BYTES, image);
});
