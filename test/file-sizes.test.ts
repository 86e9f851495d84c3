/** Files and lines that a reader can take in at once. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './support/daemon/command.ts';

const FOLDERS = ['bin', 'scripts', 'src', 'test'];
/** Programs, contracts, styles and pages. Some programs have no extension. */
const EXTENSIONS = ['', '.cjs', '.css', '.html', '.mjs', '.sol', '.ts', '.tsx'];

const MAX_LINES = 400;
const MAX_COLUMNS = 120;

/** Longer files, each with the lines that it may have. Split a file instead of adding one or raising its number. */
const LONG_FILES: Readonly<Record<string, number>> = {
  'test/api/endpoints/token-launch.slow.test.ts': 451,
  'test/chain/tracker.slow.test.ts': 428,
  'test/pages/explorer.page.slow.test.ts': 753,
  'test/server/queries/queries.slow.test.ts': 404,
};

const files = new Map(FOLDERS.flatMap(textFiles).map((file) => [file, linesOf(file)]));

function textFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && EXTENSIONS.includes(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
}

function linesOf(file: string): string[] {
  return readFileSync(join(ROOT, file), 'utf8').trimEnd().split('\n');
}

function longLines(lines: readonly string[]): number {
  return lines.filter((line) => line.length > MAX_COLUMNS).length;
}

test(`a file has at most ${MAX_LINES} lines, and the exceptions only become fewer and shorter`, () => {
  const wrong = [...files]
    .filter(([file, { length }]) => length > (LONG_FILES[file] ?? MAX_LINES))
    .map(([file, { length }]) => `${file} has ${length} lines`);
  const done = Object.keys(LONG_FILES)
    .filter((file) => (files.get(file)?.length ?? 0) <= MAX_LINES)
    .map((file) => `${file} needs no exception any more`);
  assert.deepEqual([...wrong, ...done], []);
});

test(`a line has at most ${MAX_COLUMNS} characters`, () => {
  const wrong = [...files].filter(([, lines]) => longLines(lines) > 0).map(([file]) => file);
  assert.deepEqual(wrong, []);
});
