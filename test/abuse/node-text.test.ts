/** Text from a node, wherever the program repeats it: one line, no control characters, no keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/log/logger.ts';
import { TOKEN } from '../server/operating.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { LAUNCHER, run } from '../support/daemon/command.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const KEY = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7';
const DIRECTION_MARK = '\u202e';
const ESCAPE = '\u001b[2J';
const WORDS = `plan ${DIRECTION_MARK}exhausted${ESCAPE}\nat https://eth.example/v2/${KEY}?apikey=${KEY}`;

/** Characters that no text from a node may contain. */
const STEERING = /[\p{Cf}\p{Cs}]|[^\P{Cc}\n]/u;

test('node error text reaches status, panel, command line and log without keys and control characters', async (t) => {
  const cleanup = nestedCleanup(t);
  const node = await startMisbehavingNode({
    answer(method) {
      if (method === 'web3_clientVersion')
        return `Node${DIRECTION_MARK}/1.0 ${ESCAPE}https://eth.example/v2/${KEY}`;
      if (method === 'eth_chainId') return '0x1';
      if (method === 'eth_blockNumber') return '0x10';
      if (method === 'eth_getBlockReceipts' || method.startsWith('debug_')) return [];
      throw new NodeError(-32_000, WORDS);
    },
  });
  cleanup.after(() => node.close());
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', format: 'pretty', write: (line) => lines.push(line) });
  const { url, daemon } = await startTestDaemon(cleanup, {
    flags: { '--node-http': node.url },
    env: { ATLAS_ADMIN_TOKEN: TOKEN },
    log,
  });
  await waitFor(() => daemon.status().reason?.includes('plan exhausted'), { what: 'the words of the node' });
  const get = async (path: string) => {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    return JSON.stringify(await (await fetch(url + path, { headers })).json());
  };
  const { stdout } = await run(cleanup, [LAUNCHER, 'status', '--url', url], { cwd: tempDir(cleanup) });
  const places = {
    '/status': await get('/status'),
    '/readyz': await get('/readyz'),
    panel: await get('/admin/api/index'),
    'command line': stdout,
    log: lines.join(''),
  };
  for (const [place, text] of Object.entries(places)) {
    assert.match(text, /plan exhausted/, place);
    assert.ok(!text.includes(KEY), `the key is in ${place}: ${text}`);
    assert.doesNotMatch(text, STEERING, place);
    assert.doesNotMatch(text, /\\u00|\\u20/, `${place} has escaped what it should have dropped`);
  }
});
