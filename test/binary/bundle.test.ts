import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundleScript } from '../../scripts/build/bundle.ts';

test('the single binary contains the product, and no benchmark or simulator', async () => {
  const { files, script } = await bundleScript('src/cli.ts', 'test');
  assert.ok(files.includes('src/cli/bench.ts') && files.includes('src/daemon.ts'));
  assert.deepEqual(
    files.filter((file) => !file.startsWith('src/') && file !== 'package.json'),
    [],
  );
  assert.match(script, /runs from a checkout of the sources/);
});
