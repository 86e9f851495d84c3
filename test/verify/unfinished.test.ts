import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { verifyText } from '../../src/cli/verify/verify-text.ts';
import { startAnvil } from '../../src/dev/anvil.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { LAUNCHER, run } from '../support/daemon/command.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { differencesOf, verifyFile } from '../support/index/verify.ts';
import {
  type Faults,
  type MisbehavingNode,
  startMisbehavingNode,
} from '../support/nodes/misbehaving-node.ts';
import { tempDir } from '../support/temp-dir.ts';

const ODD_BALANCES: Partial<Faults> = {
  replace: (method, _params, result) => (method === 'eth_getBalance' ? 'much' : result),
};

const owner = suiteCleanup();
/** An index of a short chain, and a proxy of its node. */
let dir: string;
let path: string;
let node: MisbehavingNode;

before(async () => {
  const anvil = await startAnvil({ manual: true });
  owner.after(() => anvil.stop());
  const [from, to] = (await anvil.call('eth_accounts')) as string[];
  for (let i = 0; i < 3; i++) {
    await anvil.call('eth_sendTransaction', [{ from, to, value: '0x1' }]);
    await anvil.call('anvil_mine', []);
  }
  dir = tempDir(owner);
  path = await buildIndex({ url: anvil.url, dir });
  node = await startMisbehavingNode({ upstream: anvil.url });
  owner.after(() => node.close());
});

test('a check during which the node fails is reported as unfinished, and the others finish', async () => {
  node.misbehave(ODD_BALANCES);
  const report = await verifyFile({ path, http: node.url });
  assert.deepEqual(report.unfinished, ['native']);
  assert.deepEqual(differencesOf(report), []);
  const text = verifyText(report);
  assert.match(text, /^native +UNFINISHED +- +eth_getBalance: the node sent "much" as a balance$/m);
  assert.match(text, /^transfers +equal /m);
  assert.match(text, /^no difference found in what was compared/m);
});

test('a node too busy to return balances is not mistaken for one without the state', async () => {
  node.misbehave({ errorFor: { eth_getBalance: { code: -32005, message: 'rate limit exceeded' } } });
  const report = await verifyFile({ path, http: node.url });
  assert.deepEqual(report.unfinished, ['native']);
  assert.match(verifyText(report), /^native +UNFINISHED .*rate limit exceeded/m);
});

test('the command prints the report, names the unfinished check and exits with 1', async (t) => {
  node.misbehave(ODD_BALANCES);
  const command = [LAUNCHER, 'verify', '--data-dir', dir, '--node-http', node.url];
  const { code, stdout, stderr } = await run(t, command, { cwd: dir });
  assert.equal(code, 1);
  assert.match(stdout, /^native +UNFINISHED /m);
  assert.match(
    stderr,
    /^atlas-node: the node failed during the check of native .*: verify again when it works$/m,
  );
});
