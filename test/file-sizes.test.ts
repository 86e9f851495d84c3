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

test(`a file has at most ${MAX_LINES} lines`, () => {
  const wrong = [...files]
    .filter(([, { length }]) => length > MAX_LINES)
    .map(([file, { length }]) => `${file} has ${length} lines`);
  assert.deepEqual(wrong, []);
});

test(`a line has at most ${MAX_COLUMNS} characters`, () => {
  const wrong = [...files].filter(([, lines]) => longLines(lines) > 0).map(([file]) => file);
  assert.deepEqual(wrong, []);
});
