/** config.example.toml has every setting, each explained. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { lineOf } from '../../src/config/parse-config.ts';
import { configSchema } from '../../src/config/schema.ts';
import { flatten, schemaAt } from '../../src/config/tree.ts';

const EXAMPLE = readFileSync(new URL('../../config.example.toml', import.meta.url), 'utf8');
const DEFAULTS = flatten(configSchema.parse({}));

test('the example file has every setting, each at its default', () => {
  const example = flatten(parse(EXAMPLE));
  assert.deepEqual([...example.keys()].sort(), [...DEFAULTS.keys()].sort());
  assert.deepEqual(structuredClone(Object.fromEntries(example)), Object.fromEntries(DEFAULTS));
});

test('the example file names the range of every number that has one', () => {
  const lines = EXAMPLE.split('\n');
  const commentAbove = (at: number): string => {
    const line = lines[at - 1] ?? '';
    return line.startsWith('# ') ? `${commentAbove(at - 1)} ${line.slice(2)}` : '';
  };
  const numbers = [...DEFAULTS.keys()].filter((path) => !/^tiers\.(?!free)/.test(path));
  let found = 0;
  for (const path of numbers) {
    const schema = schemaAt(path);
    const inner = schema instanceof z.ZodDefault ? schema.unwrap() : schema;
    if (!(inner instanceof z.ZodNumber) || inner.maxValue === Number.MAX_SAFE_INTEGER) continue;
    const comment = commentAbove((lineOf(EXAMPLE, path) ?? 0) - 1);
    assert.ok(comment.includes(`${inner.minValue} to ${inner.maxValue}`), `${path}:${comment}`);
    found++;
  }
  assert.ok(found > 20, `only ${found} numbers were found`);
});

test('the example file explains every setting above it, and tiers once', () => {
  const lines = EXAMPLE.split('\n');
  const isSetting = (line: string | undefined) => /^\w+ = /.test(line ?? '');
  const bare = lines.filter((line, at) => isSetting(line) && !/^(# .{10,}|\w+ = )/.test(lines[at - 1] ?? ''));
  assert.deepEqual(bare, []);
  const sharing = lines.filter((line, at) => isSetting(line) && isSetting(lines[at - 1]));
  assert.deepEqual(
    sharing.filter((line) => !/^(requests_per_second|chain_depth|max_hooks|tls_key) /.test(line)),
    [],
  );
});
