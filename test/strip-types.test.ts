import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PINNED_NODE, ROOT, run } from './support/daemon/command.ts';
import { tempDir } from './support/temp-dir.ts';

const SOURCE = `import { Worker, isMainThread } from 'node:worker_threads';
const where: string = isMainThread ? 'main' : 'thread';
console.log(where, process.moduleLoadList.some((name: string) => name.includes('amaro')));
if (isMainThread) new Worker(new URL(import.meta.url));
`;

/** A project with one source beside the real `bin`. */
function project(t: TestContext) {
  const root = join(tempDir(t), 'a #1 copy');
  const source = join(root, 'src', 'deep', 'one.ts');
  cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true });
  mkdirSync(join(root, 'src', 'deep'), { recursive: true });
  writeFileSync(source, SOURCE);
  const hook = join(root, 'bin', 'strip-types.cjs');
  const node = [PINNED_NODE, '--disable-warning=ExperimentalWarning'];
  return {
    root,
    source,
    kept: join(root, 'node_modules', '.cache', 'atlas-node', 'src', 'deep', 'one.ts.mjs'),
    start: () => run(t, [...node, '--require', hook, source], { cwd: '/' }),
    prepare: () => run(t, [...node, hook], { cwd: '/' }),
  };
}

test('once prepared, sources run in every thread without the parser of TypeScript', async (t) => {
  const { prepare, start } = project(t);
  assert.equal((await prepare()).code, 0);
  const { stdout, stderr } = await start();
  assert.deepEqual([stdout, stderr], ['main false\nthread false\n', '']);
});

test('unprepared sources are prepared at the first start', async (t) => {
  const { start } = project(t);
  assert.match((await start()).stdout, /^main true\n/);
  assert.match((await start()).stdout, /^main false\n/);
});

test('a changed source runs in its current form', async (t) => {
  const { source, prepare, start } = project(t);
  await prepare();
  writeFileSync(source, `const text: string = 'changed'; console.log(text);`);
  assert.equal((await start()).stdout, 'changed\n');
  writeFileSync(source, `\n\nconst text: string = 'lost';\nthrow new Error(text);`);
  assert.match((await start()).stderr, /one\.ts:4/, 'lines stay as they are in the source');
});

test('rebuilds a truncated cached source', async (t) => {
  const { kept, prepare, start } = project(t);
  await prepare();
  writeFileSync(kept, readFileSync(kept, 'utf8').slice(0, 50));
  assert.match((await start()).stdout, /^main true\n/);
  assert.match(readFileSync(kept, 'utf8'), /\n\/\/ [0-9a-f]{64}\n$/);
});
