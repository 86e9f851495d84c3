import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { verifyText } from '../../src/cli/verify/verify-text.ts';
import { startAnvil } from '../../src/dev/anvil.ts';
import { LAUNCHER, run } from '../support/daemon/command.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { differencesOf, verifyFile } from '../support/index/verify.ts';
import { type Faults, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { tempDir } from '../support/temp-dir.ts';

const ODD_BALANCES: Partial<Faults> = {
  replace: (method, _params, result) => (method === 'eth_getBalance' ? 'much' : result),
};

/** An index of a short chain, and its node, which now returns no balances; `faults` says how. */
async function indexedByNodeWithoutBalances(t: TestContext, faults: Partial<Faults> = ODD_BALANCES) {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const [from, to] = (await anvil.call('eth_accounts')) as string[];
  for (let i = 0; i < 3; i++) {
    await anvil.call('eth_sendTransaction', [{ from, to, value: '0x1' }]);
    await anvil.call('anvil_mine', []);
  }
  const dir = tempDir(t);
  const path = await buildIndex({ url: anvil.url, dir });
  const node = await startMisbehavingNode({ upstream: anvil.url });
  t.after(() => node.close());
  node.misbehave(faults);
  return { dir, path, url: node.url };
}

test('a check during which the node fails is reported as unfinished, and the others finish', async (t) => {
  const { path, url } = await indexedByNodeWithoutBalances(t);
  const report = await verifyFile({ path, http: url });
  assert.deepEqual(report.unfinished, ['native']);
  assert.deepEqual(differencesOf(report), []);
  const text = verifyText(report);
  assert.match(text, /^native +UNFINISHED +- +eth_getBalance: the node sent "much" as a balance$/m);
  assert.match(text, /^transfers +equal /m);
  assert.match(text, /^no difference found in what was compared/m);
});

test('a node too busy to return balances is not mistaken for one without the state', async (t) => {
  const busy = { code: -32005, message: 'rate limit exceeded' };
  const { path, url } = await indexedByNodeWithoutBalances(t, { errorFor: { eth_getBalance: busy } });
  const report = await verifyFile({ path, http: url });
  assert.deepEqual(report.unfinished, ['native']);
  assert.match(verifyText(report), /^native +UNFINISHED .*rate limit exceeded/m);
});

test('the command prints the report, names the unfinished check and exits with 1', async (t) => {
  const { dir, url } = await indexedByNodeWithoutBalances(t);
  const { code, stdout, stderr } = await run(t, [LAUNCHER, 'verify', '--data-dir', dir, '--node-http', url], {
    cwd: dir,
  });
  assert.equal(code, 1);
  assert.match(stdout, /^native +UNFINISHED /m);
  assert.match(
    stderr,
    /^atlas-node: the node failed during the check of native .*: verify again when it works$/m,
  );
});
