/** The README, the pages of docs/ and the others beside them, as a reader sees them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

export interface Page {
  /** Path below the project's folder. */
  path: string;
  text: string;
}

export const PAGES: readonly Page[] = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'scripts/bench/README.md',
  'scripts/simulator/README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** The contents of all code blocks that start with ``` and `info`, such as `js viem`. */
export function codeBlocks(info: string): string[] {
  return PAGES.flatMap(({ text }) =>
    [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
      .filter(([, found]) => found === info)
      .map(([, , code = '']) => code),
  );
}

/** The only code block of its kind. */
export function codeBlock(info: string): string {
  const [block, ...others] = codeBlocks(info);
  assert.ok(block !== undefined && others.length === 0, `the docs must have one block "${info}"`);
  return block;
}

/** The rows of a page's tables whose first column has this heading, as the texts of their cells. */
export function tableRows(path: string, heading: string): string[][] {
  const { text } = PAGES.find((page) => page.path === path) ?? assert.fail(path);
  const tables = text.matchAll(/^\|([^|]*)\|.*\n\|[-:| ]+\|\n((?:\|.*\n)*)/gm);
  const rows = [...tables].flatMap(([, first = '', body = '']) =>
    first.trim() === heading ? body.trimEnd().split('\n') : [],
  );
  assert.ok(rows.length > 0, `${path} has no table of ${heading}`);
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}
