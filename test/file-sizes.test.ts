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
  'test/api/recount.ts': 590,
  'test/chain/tracker.slow.test.ts': 428,
  'test/gateway/caching/caching.slow.test.ts': 495,
  'test/gateway/filters/filters.slow.test.ts': 490,
  'test/gateway/logs/logs.slow.test.ts': 487,
  'test/indexer/indexer.slow.test.ts': 541,
  'test/node/subscriptions.test.ts': 480,
  'test/pages/explorer.page.slow.test.ts': 753,
  'test/server/queries/queries.slow.test.ts': 404,
  'test/server/ws/ws.test.ts': 483,
  'test/store/migrations.test.ts': 485,
};

/**
 * Files with longer lines, each with their number: regular expressions, and texts that are compared as a whole. Break a
 * line instead of adding one.
 */
const LONG_LINES: Readonly<Record<string, number>> = {
  'src/config/sources.ts': 1,
  'src/config/values.ts': 1,
  'src/gateway/policy.ts': 1,
  'src/gateway/response-tail.ts': 1,
  'src/node/node-errors.ts': 1,
  'src/sql/text/statement.ts': 1,
  'test/cli.slow.test.ts': 3,
  'test/cli/service.slow.test.ts': 1,
  'test/cli/status/status-table.test.ts': 1,
  'test/cluster/keys.slow.test.ts': 2,
  'test/server/mcp/mcp.test.ts': 1,
  'test/verify/repair.slow.test.ts': 1,
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

test(`a line has at most ${MAX_COLUMNS} characters, and the exceptions only become fewer`, () => {
  const named = [...new Set([...files.keys(), ...Object.keys(LONG_LINES)])];
  const wrong = named.flatMap((file) => {
    const [found, allowed] = [longLines(files.get(file) ?? []), LONG_LINES[file] ?? 0];
    return found === allowed ? [] : [`${file} has ${found} longer lines; its exception is ${allowed}`];
  });
  assert.deepEqual(wrong, []);
});
