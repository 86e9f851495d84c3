import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PINNED_NODE, ROOT, run, SOURCE_FLAGS } from '../support/daemon/command.ts';

/** Scripts, each with a bad argument. */
const WRONG = {
  'bench/bench.ts': '--repeat=0',
  'build-binary.ts': '--out',
  'compile-contracts.ts': 'Token.sol',
  'soak/crash.ts': '--kills=0',
  'soak/faults.ts': '--runs=many',
  'soak/fuzz.ts': '--seconds=-1',
  'soak/load.ts': '--minutes=0.5',
  'simulator/replay-node.ts': '--generate=2000',
  'soak/soak-streams.ts': '--sockets=1.5',
  'screenshots.ts': 'explorer',
  'stock-clients.ts': '--reverts=0',
  'setup.mjs': 'record',
};

/** One script of each parser. The others prove with their bad argument alone that they use it. */
const PARSERS = ['bench/bench.ts', 'setup.mjs'];

function script(t: TestContext, name: string, ...args: string[]) {
  return run(t, [PINNED_NODE, ...SOURCE_FLAGS, `scripts/${name}`, ...args], { cwd: ROOT });
}

for (const [name, wrong] of Object.entries(WRONG)) {
  test(`${name} prints its usage, and refuses a bad argument in one line`, async (t) => {
    const { code, stdout, stderr } = await script(t, name, '--help');
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(stdout.startsWith(`${basename(name)} [`), stdout);
    assert.match(stdout, /\n {2}--\w/);
    for (const argument of PARSERS.includes(name) ? ['--unknown', wrong] : [wrong]) {
      const refused = await script(t, name, argument);
      assert.deepEqual([refused.code, refused.stdout], [2, ''], refused.stderr);
      assert.match(refused.stderr, /^[^\n]+\(see --help\)\n$/);
    }
  });
}

test('test.mjs prints its usage', async (t) => {
  const { code, stdout } = await script(t, 'test.mjs', '--help');
  assert.equal(code, 0);
  assert.match(stdout, /npm test -- /);
});
