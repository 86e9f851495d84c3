import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

/** Bare parameters make SQLite prepare a statement again for each value: see query/snapshot.ts. */
test('parameters in WHERE and LIMIT clauses of the read side carry a plus sign', () => {
  for (const folder of ['query', 'api', 'store/read']) {
    const dir = new URL(`../../src/${folder}/`, import.meta.url);
    for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      const bare = readFileSync(new URL(file, dir), 'utf8')
        .split('\n')
        .filter((line) => /(=|<|>|LIMIT)\s*\?/.test(line) && /SELECT|WHERE|AND|LIMIT/.test(line));
      assert.deepEqual(bare, [], `${folder}/${file}`);
    }
  }
});
