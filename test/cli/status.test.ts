/** `atlas-node status` against servers that answer like a daemon. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { paintFor } from '../../src/cli/format.ts';
import { watch } from '../../src/cli/status/status.ts';
import { statusTable } from '../../src/cli/status/status-table.ts';
import { initialStatus } from '../../src/indexer/progress.ts';
import type { IndexStatus } from '../../src/model/index-status.ts';
import { LAUNCHER, run, start } from '../support/daemon/command.ts';
import { freePort } from '../support/free-port.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/tls/', import.meta.url));

const FOLLOWING: IndexStatus = {
  ...initialStatus(),
  phase: 'following',
  startBlock: 0,
  head: { number: 41, hash: '0xaa' },
  nodeHead: 41,
};

const MIB = 1024 ** 2;
const INDEX = {
  survey: { fileBytes: 5 * MIB, walBytes: MIB, freeBytes: 2_048 * MIB },
  forecast: { bytesPerDay: 64 * MIB, bytesWhenFilled: 9 * MIB, daysUntilFull: 31 },
};

/** The answers of a daemon whose operator token is `secret`. */
const answer: RequestListener = ({ url, headers }, response) => {
  if (url === '/status') response.end(JSON.stringify(FOLLOWING));
  else if (url === '/admin/api/index' && headers.authorization === 'Bearer a secret of length')
    response.end(JSON.stringify(INDEX));
  else response.writeHead(401).end('{}');
};

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function statusOf(t: TestContext, args: string[], cwd = tempDir(t)) {
  return run(t, [LAUNCHER, 'status', ...args], { cwd });
}

test('with the operator token of the configuration the disk and its forecast are shown', async (t) => {
  const cwd = tempDir(t);
  const port = await listen(t, createHttpServer(answer));
  writeFileSync(join(cwd, 'atlas.toml'), `admin_token = "a secret of length"\n[server]\nport = ${port}\n`);
  const { code, stdout } = await statusOf(t, [], cwd);
  assert.equal(code, 0);
  assert.match(stdout, /^state +following$/m);
  assert.match(stdout, /^index\.db +5 MiB, write-ahead log 1 MiB$/m);
  assert.match(stdout, /^free +2 GiB$/m);
  assert.match(stdout, /^forecast +64 MiB a day, the disk is full in 31 days$/m);
  const json = JSON.parse((await statusOf(t, ['--json'], cwd)).stdout);
  assert.equal(json.disk.daysUntilFull, 31);
});

test('the operator token is sent only to the address in the configuration', async (t) => {
  const cwd = tempDir(t);
  const asked: unknown[] = [];
  const port = await listen(
    t,
    createHttpServer((request, response) => {
      asked.push(request.headers.authorization);
      answer(request, response);
    }),
  );
  writeFileSync(join(cwd, 'atlas.toml'), 'admin_token = "a secret of length"\n');
  const { stdout } = await statusOf(t, ['--url', `http://127.0.0.1:${port}/`], cwd);
  assert.match(stdout, /^state +following$/m);
  assert.deepEqual(asked, [undefined]);
});

test('a refused operator token is reported and not sent again', async (t) => {
  const cwd = tempDir(t);
  const sent: unknown[] = [];
  const port = await listen(
    t,
    createHttpServer((request, response) => {
      if (request.headers.authorization) sent.push(request.headers.authorization);
      answer(request, response);
    }),
  );
  writeFileSync(join(cwd, 'atlas.toml'), `admin_token = "another one of length"\n[server]\nport = ${port}\n`);
  const watching = start(t, [LAUNCHER, 'status', '--watch'], { cwd });
  const times = () => watching.stdout().split(/^disk +unavailable: .* another admin_token /m).length - 1;
  await waitFor(() => times() >= 2, { what: 'two reports' });
  watching.child.kill('SIGINT');
  assert.equal((await watching.ended).code, 0);
  assert.deepEqual(sent, ['Bearer another one of length']);
});

test('the operator can query a daemon whose certificate is for another name', async (t) => {
  const cwd = tempDir(t);
  const files = { cert: join(FIXTURES, 'old-cert.pem'), key: join(FIXTURES, 'old-key.pem') };
  const options = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  const port = await listen(t, createHttpsServer(options, answer));
  writeFileSync(
    join(cwd, 'atlas.toml'),
    `[server]\nport = ${port}\ntls_cert = "${files.cert}"\ntls_key = "${files.key}"\n`,
  );
  assert.match((await statusOf(t, [], cwd)).stdout, /^state +following$/m);
  const elsewhere = await statusOf(t, ['--url', `https://127.0.0.1:${port}`]);
  assert.equal(elsewhere.code, 1);
  assert.match(elsewhere.stderr, /SELF_SIGNED_CERT/);
});

test('--watch appends without a terminal, and exits cleanly on Ctrl-C', async (t) => {
  const port = await listen(t, createHttpServer(answer));
  const args = ['status', '--watch', '--json', '--url', `http://127.0.0.1:${port}`];
  const watching = start(t, [LAUNCHER, ...args], { cwd: tempDir(t) });
  await waitFor(() => watching.stdout().split('\n').length > 2, { what: 'two lines' });
  watching.child.kill('SIGINT');
  const { code, stdout } = await watching.ended;
  assert.equal(code, 0);
  for (const line of stdout.trim().split('\n')) assert.equal(JSON.parse(line).phase, 'following');
});

test('--watch waits for a daemon that is not up yet', async (t) => {
  const port = await freePort();
  const args = ['status', '--watch', '--url', `http://127.0.0.1:${port}`];
  const watching = start(t, [LAUNCHER, ...args], { cwd: tempDir(t) });
  await waitFor(() => watching.stdout().includes('ECONNREFUSED'), { what: 'the wait' });
  const server = createHttpServer(answer).listen(port, '127.0.0.1');
  t.after(() => server.close());
  await waitFor(() => /^state +following$/m.test(watching.stdout()), { what: 'the status' });
  watching.child.kill('SIGINT');
  assert.equal((await watching.ended).code, 0);
});

test('a watch whose first report fails restores the signal handlers', async () => {
  const handlers = () => [process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')];
  const before = handlers();
  const screen = { write: () => assert.fail('there is nothing to draw') };
  await assert.rejects(
    watch(() => Promise.reject(new Error('no daemon')), screen),
    /no daemon/,
  );
  assert.deepEqual(handlers(), before);
});

/**
 * Runs a command in a terminal and presses Ctrl-C once `count` frames were drawn. Prints exit code and output as JSON.
 */
const IN_TERMINAL = `
import json, os, pty, sys
child, terminal = pty.fork()
if child == 0: os.execvp(sys.argv[2], sys.argv[2:])
written, pressed = b'', False
while True:
    try: part = os.read(terminal, 4096)
    except OSError: break
    if not part: break
    written += part
    if written.count(b'\\x1b[H') >= int(sys.argv[1]) and not pressed:
        os.write(terminal, b'\\x03')
        pressed = True
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps({'code': code, 'written': written.decode()}))
`;

const visible = (text: string) => text.replaceAll('\x1b', '<ESC>');

test('--watch redraws in place on a terminal, and leaves the last state on it', {
  skip: spawnSync('python3', ['--version']).status !== 0 && 'left out: this machine has no python3',
}, async (t) => {
  const port = await listen(t, createHttpServer(answer));
  const args = ['status', '--watch', '--url', `http://127.0.0.1:${port}`];
  const { stdout } = await run(t, ['python3', '-c', IN_TERMINAL, '2', LAUNCHER, ...args], {
    cwd: tempDir(t),
  });
  const { code, written }: { code: number; written: string } = JSON.parse(stdout);
  assert.equal(code, 0);
  const [before, drawn, left] = visible(written).split(/<ESC>\[\?1049[hl]/);
  assert.equal(before, '');
  const frames = (drawn ?? '').split('<ESC>[H').length - 1;
  assert.ok(frames >= 2, `${frames} frames`); // more if the key press is handled late
  assert.match(left ?? '', /^state +following\r$/m);
});

test('a report is coloured only on a terminal, and not with NO_COLOR or a dumb terminal', () => {
  const { NO_COLOR: noColor, TERM: term } = process.env;
  try {
    delete process.env.NO_COLOR;
    process.env.TERM = 'xterm';
    const table = (isTTY: boolean) =>
      statusTable(
        { status: FOLLOWING, staleReason: null, sink: null, cluster: null, disk: null, tokenRefused: false },
        0,
        paintFor({ isTTY }),
      );
    assert.match(visible(table(true)), /<ESC>\[32mfollowing<ESC>\[0m/);
    assert.ok(!table(false).includes('\x1b'));
    process.env.TERM = 'dumb';
    assert.ok(!table(true).includes('\x1b'));
    process.env.TERM = 'xterm';
    process.env.NO_COLOR = '1';
    assert.ok(!table(true).includes('\x1b'));
  } finally {
    if (noColor === undefined) delete process.env.NO_COLOR;
    else process.env.NO_COLOR = noColor;
    if (term === undefined) delete process.env.TERM;
    else process.env.TERM = term;
  }
});
