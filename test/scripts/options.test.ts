import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PINNED_NODE, ROOT, run, SOURCE_FLAGS } from '../support/command.ts';

/** Scripts, each with an argument that is wrong. */
const WRONG = {
  'build-binary.ts': '--out',
  'compile-contracts.ts': 'Token.sol',
  'crash.ts': '--kills=0',
  'faults.ts': '--runs=many',
  'fuzz.ts': '--seconds=-1',
  'load.ts': '--minutes=0.5',
  'record-schema.ts': '23',
  'replay-node.ts': '--generate=2000',
  'soak-streams.ts': '--sockets=1.5',
  'setup.mjs': 'record',
};

function script(t: TestContext, name: string, ...args: string[]) {
  return run(t, [PINNED_NODE, ...SOURCE_FLAGS, `scripts/${name}`, ...args], { cwd: ROOT });
}

for (const [name, wrong] of Object.entries(WRONG)) {
  test(`${name} tells its usage, and in one line what is wrong`, async (t) => {
    const { code, stdout, stderr } = await script(t, name, '--help');
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(stdout.startsWith(`${name} [`), stdout);
    assert.match(stdout, /\n {2}--\w/);
    for (const argument of ['--unknown', wrong]) {
      const refused = await script(t, name, argument);
      assert.deepEqual([refused.code, refused.stdout], [2, ''], refused.stderr);
      assert.match(refused.stderr, /^[^\n]+\(see --help\)\n$/);
    }
  });
}

test('test.mjs tells its usage', async (t) => {
  const { code, stdout } = await script(t, 'test.mjs', '--help');
  assert.equal(code, 0);
  assert.match(stdout, /npm test -- /);
});
