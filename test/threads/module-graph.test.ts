/** The schema library costs a thread 7 MB and 50 ms, so only threads that answer requests load it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { THREADS } from '../../src/threads/entries.ts';

/** Computes the answers of endpoints, with the code of the main thread. */
const ANSWERS_REQUESTS = ['reader'];

const RUNTIME_IMPORT = /(?:^|\n)(?:import|export)\s(?!type\s)(?:[^;'"]*?\sfrom\s+)?'([^']+)'/g;

/** The files by which an entry comes to import a package at run time; undefined if it does not. */
function wayTo(wanted: string, entry: string): string[] | undefined {
  const ways = new Map([[entry, [entry]]]);
  for (const [file, way] of ways) {
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(RUNTIME_IMPORT)) {
      if (specifier === wanted) return way;
      const path = join(dirname(file), specifier);
      if (specifier.startsWith('.') && specifier.endsWith('.ts') && !ways.has(path))
        ways.set(path, [...way, path]);
    }
  }
  return undefined;
}

test('no worker thread loads the schema library, except those that answer requests', () => {
  for (const [name, url] of Object.entries(THREADS)) {
    const way = wayTo('zod', fileURLToPath(url));
    if (ANSWERS_REQUESTS.includes(name)) assert.ok(way !== undefined, `${name} needs no exception`);
    else assert.equal(way, undefined, `${name} loads zod by ${way?.join(' -> ')}`);
  }
});
