/** The daemon under a limit of open files refuses what does not fit and keeps running. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { printConfigJson } from '../../src/config/print.ts';
import { maxConnections, withMaxConnections } from '../../src/daemon/open-files.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { createLogger } from '../../src/log/logger.ts';
import { LAUNCHER, readyUrl, start } from '../support/daemon/command.ts';
import { Dialled } from '../support/daemon/daemon-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

function startWithLimit(t: TestContext, openFiles: number) {
  const dir = tempDir(t);
  const program = [LAUNCHER, 'start', '--data-dir', dir, '--port', '0', '--node-http', 'http://127.0.0.1:9'];
  return start(t, ['sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', ...program], { cwd: dir });
}

test('connections get what the open-file limit leaves after the own files of the daemon', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', format: 'json', write: (line) => lines.push(line) });
  const { config } = parseConfig({});
  assert.equal(maxConnections(config, log, 20_000), 10_000);
  assert.equal(maxConnections(config, log, Number.POSITIVE_INFINITY), 10_000);
  assert.deepEqual(lines, []);
  assert.equal(maxConnections(config, log, 1_024), 780);
  assert.match(lines.join(), /allows fewer connections than server\.max_connections.*"connections":780/);
  assert.throws(() => maxConnections(config, log, 244), FatalError);
  const { config: small } = parseConfig({ env: { ATLAS_RPC__MAX_SOCKETS: '8' } });
  assert.equal(maxConnections(small, log, 244), 88);
});

test('shows the effective connection limit, and why it differs from the setting', () => {
  const shown = (env: Record<string, string>, connections: number) => {
    const settings = printConfigJson(withMaxConnections(parseConfig({ env }), connections));
    return JSON.parse(settings)['server.max_connections'];
  };
  assert.deepEqual(shown({}, 10_000), { value: 10_000, source: 'default' });
  assert.deepEqual(shown({}, 780), {
    value: 780,
    source: 'limit of open files (ulimit -n), instead of 10000 (default)',
  });
  assert.deepEqual(shown({ ATLAS_SERVER__MAX_CONNECTIONS: '5000' }, 780), {
    value: 780,
    source: 'limit of open files (ulimit -n), instead of 5000 (env ATLAS_SERVER__MAX_CONNECTIONS)',
  });
});

test('a limit of open files that is too low ends the daemon with one line that says what to do', async (t) => {
  const { code, stderr } = await startWithLimit(t, 64).ended;
  assert.match(
    stderr.trimEnd().split('\n').at(-1) ?? '',
    /^atlas-node: the limit of 64 open files is too low: the daemon alone may need 244; raise it /,
  );
  assert.equal(code, 1);
});

test('connections beyond the file limit are refused, and the daemon keeps running', async (t) => {
  const running = startWithLimit(t, 260);
  const port = Number(new URL(await readyUrl(running)).port);
  const many = Array.from({ length: 300 }, () => new Dialled(t, port));
  await waitFor(() => many.filter(({ ended }) => ended).length >= 280, { what: 'the end of most of them' });
  const [kept] = many.filter(({ ended }) => !ended);
  await kept?.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await kept?.receives(/200 OK/);
  assert.equal(running.child.exitCode, null);
  assert.doesNotMatch(running.stderr(), /EMFILE/);
});
