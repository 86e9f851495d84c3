import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { parseConfig } from '../../src/config/parse-config.ts';
import { printConfig, printConfigJson } from '../../src/config/print.ts';
import { requestHeaders, setNodeHeaders } from '../../src/node/request-headers.ts';

const SECRET = 'a-key-of-a-provider';

test('configured headers are added, and replace the others whatever the case of their names', (t) => {
  t.after(() => setNodeHeaders({}));
  const { 'User-Agent': agent = '', ...rest } = requestHeaders({ authorization: 'Basic abc' });
  assert.match(agent, /^atlas-node\/\d/);
  assert.deepEqual(rest, { Authorization: 'Basic abc' });
  setNodeHeaders({ 'X-Key': SECRET, authorization: 'Bearer x', 'USER-AGENT': 'us' });
  assert.deepEqual(requestHeaders({ authorization: 'Basic abc' }), {
    'USER-AGENT': 'us',
    authorization: 'Bearer x',
    'X-Key': SECRET,
  });
});

test('threads that start later send them too', async (t) => {
  t.after(() => setNodeHeaders({}));
  setNodeHeaders({ 'X-Key': SECRET });
  const url = new URL('../../src/node/request-headers.ts', import.meta.url).href;
  const source = `import('node:worker_threads').then(async ({ parentPort }) => {
    const { requestHeaders } = await import(${JSON.stringify(url)});
    parentPort.postMessage(requestHeaders({ authorization: undefined })['X-Key']);
  })`;
  const worker = new Worker(source, { eval: true, execArgv: ['--import', 'tsx'] });
  t.after(() => worker.terminate());
  assert.equal(await new Promise((resolve) => worker.once('message', resolve)), SECRET);
});

test('headers come from the file or the environment, are checked, and are shown masked', () => {
  const text = `[node]\nheaders = { "X-Provider-Key" = "${SECRET}", "User-Agent" = "us" }`;
  const env = { ATLAS_NODE__HEADERS__X_OTHER: SECRET };
  const parsed = parseConfig({ file: { path: 'atlas.toml', text }, env });
  assert.deepEqual(parsed.config.node.headers, {
    'X-Provider-Key': SECRET,
    'User-Agent': 'us',
    'x-other': SECRET,
  });
  for (const shown of [printConfig(parsed), printConfigJson(parsed)]) {
    assert.ok(!shown.includes(SECRET) && shown.includes('X-Provider-Key'), shown);
  }
  const again = parseConfig({ file: { path: 'shown.toml', text: printConfig(parsed) } });
  assert.deepEqual(Object.keys(again.config.node.headers), ['X-Provider-Key', 'User-Agent', 'x-other']);
  for (const wrong of [
    '"Host" = "x"',
    '"a b" = "x"',
    '"Content-Length" = "1"',
    `"X-Key" = "${SECRET}\\r\\nA: b"`,
  ]) {
    assert.throws(
      () => parseConfig({ file: { path: 'atlas.toml', text: `[node]\nheaders = { ${wrong} }` } }),
      (error: Error) => /headers/.test(error.message) && !error.message.includes(SECRET),
      wrong,
    );
  }
});
