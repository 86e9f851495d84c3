/** Runs the commands as a user does: as processes, with their output and exit codes. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import { openKeyStore } from '../src/access/keys.ts';
import { SCHEMA_VERSION } from '../src/store/index-file.ts';
import { openDatabase } from '../src/store/open-database.ts';
import {
  LAUNCHER,
  PINNED_NODE,
  PROGRAM,
  ROOT,
  type RunOptions,
  readyUrl,
  run,
  start,
} from './support/daemon/command.ts';
import { tempDir } from './support/temp-dir.ts';
import { waitFor } from './support/wait.ts';

/** Runs atlas-node with arguments, without the launcher: it starts a second Node to see whether it runs. */
function atlas(t: TestContext, args: string[], options: RunOptions) {
  return run(t, [PINNED_NODE, PROGRAM, ...args], options);
}

test('version --json names version, commit, schema and runtimes', async (t) => {
  const { code, stdout } = await atlas(t, ['version', '--json'], { cwd: tempDir(t) });
  assert.equal(code, 0);
  const { runtimes, ...rest } = JSON.parse(stdout);
  assert.deepEqual(rest, {
    version: manifest.version,
    commit: null,
    schema: SCHEMA_VERSION,
    platform: `${process.platform}-${process.arch}`,
  });
  assert.equal(runtimes.node, process.versions.node);
  assert.match(runtimes.sqlite, /^3\.\d+\.\d+$/);
  assert.match(runtimes.v8, /^\d+\./);
  const text = await atlas(t, ['version'], { cwd: tempDir(t) });
  assert.equal(text.stdout, `${manifest.version}\n`);
});

test('--help and --version answer at every level, with examples', async (t) => {
  const cwd = tempDir(t);
  const version = await atlas(t, ['--version'], { cwd });
  assert.deepEqual([version.code, version.stdout, version.stderr], [0, `${manifest.version}\n`, '']);
  for (const command of [[], ['start'], ['keys']]) {
    const { code, stdout, stderr } = await atlas(t, [...command, '--help'], { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Usage: atlas-node/);
    assert.match(stdout, /Examples:\n {2}\$ .*atlas-node/);
  }
});

const BAD_USAGE: [args: string[], message: RegExp][] = [
  [['--prot', '1'], /^atlas-node: unknown option '--prot'; see atlas-node --help$/m],
  [['strat'], /unknown command 'strat'/],
  [['start', '--port'], /option '--port <port>' argument missing/],
  [['start', '--config', 'none.toml'], /cannot read the configuration none.toml: no such file/],
  [['start', '--node-http', 'here'], /node_http must be a URL .*, not "here" \(flag --node-http\)/],
  [['keys', 'create', '--name', 'x'], /'--tier <tier>' not specified; see atlas-node keys create --help$/m],
  [
    ['keys', 'create', '--name', 'x', '--tier', 'gold'],
    /there is no tier "gold": choose one of free, growth, pro, unlimited/,
  ],
  [
    ['keys', 'revoke', 'x'],
    /^atlas-node: 'x' is invalid for argument 'id'. It must be a key number as shown by "keys list"; see/,
  ],
  [['verify', '--repair', '5..1'], /two block numbers, the lower one first, such as 1200\.\.1250; see/],
  [
    ['verify', '--file', '--repair'],
    /option '--repair \[from\.\.to\]' cannot be used with option '--file'; see/,
  ],
  [['labels', 'import', 'none.csv'], /^atlas-node: cannot read none\.csv: no such file$/m],
  [['lists', 'import', 'none.txt'], /^atlas-node: cannot read none\.txt: no such file$/m],
  [
    ['hooks', 'create', '--url', 'https://example.org', '--filter', '@none.json'],
    /^atlas-node: --filter must be JSON, or @ and a file with JSON, not @none\.json: no such file$/m,
  ],
  [['hooks', 'create', '--url', 'here'], /^atlas-node: --url must be an http or https URL$/m],
  [
    ['hooks', 'create', '--url', 'https://10.0.0.1'],
    /^atlas-node: --url: 10\.0\.0\.1 is not on the public internet; set hooks\.allow_private/,
  ],
  [
    ['hooks', 'create', '--url', 'https://example.org', '--filter', '{"wallet":[]}'],
    /^atlas-node: --filter: .*"wallet".*did you mean "wallets"/,
  ],
  [
    ['hooks', 'create', '--url', 'https://example.org', '--confirmations', '100001'],
    /^atlas-node: --confirmations must be a whole number from 0 to 100000$/m,
  ],
  [['status', '--url', 'here'], /--url must be a URL/],
  [['status', '--url', 'ftp://127.0.0.1'], /--url must be a URL such as "http:.*, not "ftp:/],
];

for (const [args, message] of BAD_USAGE) {
  test(`atlas-node ${args.join(' ')}: one line, exit code 2`, async (t) => {
    const { code, stdout, stderr } = await atlas(t, args, { cwd: tempDir(t) });
    assert.match(stderr, message);
    assert.match(stderr, /^atlas-node: [^\n]+\n$/);
    assert.deepEqual([code, stdout], [2, '']);
  });
}

test('in a deleted working directory it says so in one line', async (t) => {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" config show';
  const { code, stderr } = await run(t, ['/bin/sh', '-c', script, LAUNCHER], { cwd: tempDir(t) });
  assert.match(stderr, /^atlas-node: the working directory no longer exists: .*\n$/m);
  assert.equal(code, 2);
});

test('a command group without a command shows its help and exits with 2', async (t) => {
  const { code, stderr } = await atlas(t, ['keys'], { cwd: tempDir(t) });
  assert.equal(code, 2);
  assert.match(stderr, /^Usage: atlas-node keys/);
});

test('config check validates ./atlas.toml, and names the line and the right key of a mistake', async (t) => {
  const cwd = tempDir(t);
  assert.match((await atlas(t, ['config', 'check'], { cwd })).stdout, /valid \(no .\/atlas.toml/);
  writeFileSync(join(cwd, 'atlas.toml'), '[server]\nport = 9000\n');
  assert.match((await atlas(t, ['config', 'check'], { cwd })).stdout, /valid \(atlas.toml\)/);
  writeFileSync(join(cwd, 'atlas.toml'), '[server]\nhosst = "x"\n');
  const { code, stderr } = await atlas(t, ['config', 'check'], { cwd });
  assert.equal(code, 2);
  assert.equal(
    stderr,
    'atlas-node: unknown setting "server.hosst" in atlas.toml line 2; did you mean "server.host"?\n',
  );
});

test('config check says which named queries read whole tables, and what they hardly mean', async (t) => {
  const cwd = tempDir(t);
  const query = (name: string, sql: string) => `[queries.${name}]\nsql = "${sql}"\n`;
  writeFileSync(
    join(cwd, 'atlas.toml'),
    query('of_block', 'SELECT id FROM transfers WHERE block_number = 7') +
      query('largest', "SELECT max(amount) FROM transfers WHERE transfer_type = 'ERC20'"),
  );
  const { code, stdout, stderr } = await atlas(t, ['config', 'check'], { cwd });
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(
    stdout.replace(/^(queries\.largest: (?:orders|no row)).*$/gm, '$1'),
    'queries.largest reads all rows of transfers: no condition leads to an index\n' +
      'queries.largest: orders\nqueries.largest: no row\nthe configuration is valid (atlas.toml)\n',
  );
});

test('config check refuses a certificate and a key that start would refuse', async (t) => {
  const files = `${ROOT}test/fixtures/tls`;
  const check = async (cert: string, key: string) => {
    const env = { ATLAS_SERVER__TLS_CERT: cert, ATLAS_SERVER__TLS_KEY: key };
    const { code, stderr } = await atlas(t, ['config', 'check'], { cwd: tempDir(t), env });
    return `${code} ${stderr}`;
  };
  assert.equal(await check(`${files}/old-cert.pem`, `${files}/old-key.pem`), '0 ');
  const mixed = await check(`${files}/old-cert.pem`, `${files}/new-key.pem`);
  assert.match(mixed, /^2 atlas-node: ATLAS_SERVER__TLS_CERT: .* are not a PEM certificate and its key: /);
  assert.match(mixed, /key: the key in \S+new-key\.pem \(ATLAS_SERVER__TLS_KEY\) is not that of [^\n]+\n$/);
  assert.match(await check(`${ROOT}README.md`, `${files}/new-key.pem`), /^2 .* not a PEM certificate/);
});

test('config show prints the source of each setting and no secret, as text and as JSON', async (t) => {
  const cwd = tempDir(t);
  writeFileSync(join(cwd, 'my.toml'), 'admin_token = "t0ps3cret, and long"\n[log]\nlevel = "warn"\n');
  const options = { cwd, env: { ATLAS_SERVER__HOST: '10.1.1.1' } };
  const args = ['config', 'show', '--config', 'my.toml', '--port', '9000'];
  const text = (await atlas(t, args, options)).stdout;
  assert.match(text, /^level = "warn" +# file my.toml$/m);
  assert.match(text, /^host = "10.1.1.1" +# env ATLAS_SERVER__HOST$/m);
  assert.match(text, /^port = 9000 +# flag --port$/m);
  assert.ok(!text.includes('t0ps3cret'));
  const json = JSON.parse((await atlas(t, [...args, '--json'], options)).stdout);
  assert.deepEqual(json['server.port'], { value: 9000, source: 'flag --port' });
  assert.deepEqual(json.admin_token, { value: '***', source: 'file my.toml' });
});

test('a reader that exits early is not a failure', async (t) => {
  const command = `${LAUNCHER} config show | head -n 1; exit "\${PIPESTATUS[0]}"`;
  const { code, stderr } = await run(t, ['/bin/bash', '-c', command], { cwd: tempDir(t) });
  assert.deepEqual([code, stderr], [0, '']);
});

test('init writes a file for the owner and the first key, and never overwrites', async (t) => {
  const cwd = tempDir(t);
  const { code, stdout, stderr } = await atlas(t, ['init', '--dir', 'sub'], { cwd });
  assert.equal(code, 0, stderr);
  const file = join(cwd, 'sub', 'atlas.toml');
  const text = readFileSync(file, 'utf8');
  assert.ok(stdout.includes(text), 'the file is printed');
  assert.match(stdout, /^atlas_[0-9A-Za-z]{38}$/m);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(existsSync(join(cwd, 'sub', 'atlas-data', 'keys.db')));
  const elsewhere = await atlas(t, ['keys', 'list', '--json', '--config', file], { cwd: tempDir(t) });
  assert.equal(JSON.parse(elsewhere.stdout).length, 1);

  const again = await atlas(t, ['init', '--dir', 'sub'], { cwd });
  assert.equal(again.code, 2);
  assert.match(again.stderr, /^atlas-node: .*atlas.toml already exists and is left unchanged: [^\n]+\n$/);
  assert.equal(readFileSync(file, 'utf8'), text);
});

test('init that cannot issue the key leaves no file, so that it can be run again', async (t) => {
  const cwd = tempDir(t);
  mkdirSync(join(cwd, 'atlas-data'));
  openKeyStore(join(cwd, 'atlas-data', 'keys.db')).close();
  const keys = openDatabase(join(cwd, 'atlas-data', 'keys.db'));
  t.after(() => keys.close());
  keys.exec("CREATE TRIGGER full BEFORE INSERT ON keys BEGIN SELECT RAISE(FAIL, 'no room'); END");
  const { code, stderr } = await atlas(t, ['init'], { cwd });
  assert.equal(code, 1);
  assert.match(stderr, /^atlas-node: [^\n]*no room[^\n]*\n$/);
  keys.exec('DROP TRIGGER full');
  const again = await atlas(t, ['init'], { cwd });
  assert.equal(again.code, 0, again.stderr);
});

test('keys are created, listed, rotated and revoked, and shown in full only when issued', async (t) => {
  const cwd = tempDir(t);
  const keys = (...args: string[]) => atlas(t, ['keys', ...args, '--data-dir', 'data'], { cwd });

  const none = await keys('list');
  assert.equal(none.code, 1);
  assert.match(none.stderr, /^atlas-node: there is no .*keys.db yet: issue a key with [^\n]+\n$/);
  assert.ok(!existsSync(join(cwd, 'data')), 'looking creates nothing');

  mkdirSync(join(cwd, 'data'));
  const text = await keys('create', '--name', 'app one', '--tier', 'growth');
  const key = /^atlas_[0-9A-Za-z]{38}$/m.exec(text.stdout)?.[0] ?? assert.fail(text.stdout + text.stderr);
  const allow = ['--allow', 'GET /api/*', '--allow', 'eth_call,eth_chainId'];
  const issued = JSON.parse(
    (await keys('create', '--name', 'two', '--tier', 'free', ...allow, '--json')).stdout,
  );
  assert.deepEqual(issued.allow, ['GET /api/*', 'eth_call', 'eth_chainId']);
  const nothing = await keys('update', '2');
  assert.deepEqual([nothing.code, nothing.stderr.split(':')[1]], [2, ' name what to change']);
  const bad = await keys('update', '2', '--allow', '/rpc');
  assert.deepEqual([bad.code, bad.stderr.split(':')[1]], [2, ' "/rpc" cannot be allowed']);
  const contradiction = await keys('update', '2', '--allow', 'all', '--allow', 'eth_call');
  assert.deepEqual(
    [contradiction.code, contradiction.stderr.includes('use it alone')],
    [2, true],
    contradiction.stderr,
  );
  assert.match(issued.key, /^atlas_[0-9A-Za-z]{38}$/);
  assert.deepEqual([issued.id, issued.name, issued.tier, issued.revokedAt], [2, 'two', 'free', null]);

  const rotated = JSON.parse((await keys('rotate', '2', '--json')).stdout);
  assert.notEqual(rotated.key, issued.key);
  assert.equal((await keys('revoke', '1')).stdout, 'key 1 (app one) is revoked\n');
  const list = await keys('list');
  const [head = '', first = '', second = '', ...rest] = list.stdout.split('\n');
  assert.match(head, /^ID {2}NAME /);
  assert.match(first, /^1 .* app one .* growth .* revoked 2/);
  assert.match(second, /^2 .* two .* free .* valid, rotated 2.* GET \/api\/\*, eth_call, eth_chainId$/);
  assert.deepEqual(rest, ['']);
  for (const secret of [key, issued.key, rotated.key]) assert.ok(!list.stdout.includes(secret));

  const unknown = await keys('revoke', '99');
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [2, 'atlas-node: there is no key 99; "atlas-node keys list" shows all\n'],
  );
  assert.deepEqual(JSON.parse((await keys('usage', '--json')).stdout), []);
  assert.equal((await keys('usage', '99')).code, 2);
});

test('status without a daemon says so and exits with 1', async (t) => {
  const { code, stderr } = await atlas(t, ['status', '--url', 'http://127.0.0.1:1'], { cwd: tempDir(t) });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^atlas-node: no answer from http:\/\/127.0.0.1:1\/status \([^)]+\): is the daemon running[^\n]+\n$/,
  );
});

test('start serves while its node is away, in plain log lines, and status shows it', async (t) => {
  const cwd = tempDir(t);
  const daemon = start(t, [LAUNCHER, 'start', '--node-http', 'http://127.0.0.1:1', '--port', '0'], { cwd });
  const url = await readyUrl(daemon);
  const text = await waitFor(
    async () => {
      const { code, stdout } = await atlas(t, ['status', '--url', `${url}/`], { cwd });
      return code === 0 && /^state +starting: \S/m.test(stdout) ? stdout : undefined;
    },
    { what: 'a status with the reason' },
  );
  assert.match(text, /^index +empty$/m);
  const json = JSON.parse((await atlas(t, ['status', '--url', url, '--json'], { cwd })).stdout);
  assert.equal(json.phase, 'starting');

  daemon.child.kill('SIGTERM');
  const { code, stdout, stderr } = await daemon.ended;
  assert.equal(code, 0, stderr);
  const [ready = '', pages = '', ...others] = stdout.split('\n');
  assert.match(ready, /^atlas-node is ready: REST \S+\/api {2}RPC \S+\/rpc {2}WebSocket ws:\S+/);
  assert.match(ready, /WebSocket ws:\S+\/ws and ws:\S+\/ws\/signals$/);
  assert.match(pages, /^ {2}explorer \S+\/ {2}panel off \(set admin_token\) {2}docs \S+\/docs$/);
  assert.deepEqual(others, ['']);
  for (const line of stderr.trim().split('\n')) assert.match(line, /^\{"msg":"[^"]+","level":"/);
  assert.ok(!stderr.includes('\x1b') && !stderr.includes('\r'), 'no progress line in a pipe');
});

test('a taken port exits with 2 and names the setting and the file', async (t) => {
  const cwd = tempDir(t);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => other.close());
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  writeFileSync(join(cwd, 'atlas.toml'), `node_http = "http://127.0.0.1:1"\nserver.port = ${port}\n`);
  const { code, stdout, stderr } = await atlas(t, ['start'], { cwd });
  assert.match(
    stderr,
    new RegExp(
      `^atlas-node: server.port \\(file atlas.toml\\): cannot listen on 127.0.0.1:${port}: the port is taken`,
      'm',
    ),
  );
  assert.deepEqual([code, stdout], [2, '']);
});

test('a damaged index exits with 1 and says what to do', async (t) => {
  const cwd = tempDir(t);
  mkdirSync(join(cwd, 'atlas-data'));
  writeFileSync(join(cwd, 'atlas-data', 'index.db'), 'not a database '.repeat(1000));
  const { code, stderr } = await atlas(t, ['start', '--node-http', 'http://127.0.0.1:1', '--port', '0'], {
    cwd,
  });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^atlas-node: [^\n]*index\.db[^\n]+\n$/m);
});

test('a second signal ends a program that does not stop, but not one sent twice by a wrapper', async (t) => {
  const script = `import { waitForStopSignal } from '${ROOT}src/cli/signals.ts';
    waitForStopSignal().then(() => console.log('stopping')); console.log('up'); setInterval(() => {}, 1000);`;
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script];
  const stuck = start(t, [PINNED_NODE, ...flags], { cwd: tempDir(t) });
  await waitFor(() => stuck.stdout().includes('up'), { what: 'the program to run' });
  const first = performance.now();
  await waitFor(
    () => {
      stuck.child.kill('SIGINT');
      return stuck.child.exitCode !== null;
    },
    { what: 'the program to give up' },
  );
  assert.ok(performance.now() - first >= 500, 'it ended at once');
  const { code, stdout } = await stuck.ended;
  assert.deepEqual([code, stdout], [1, 'up\nstopping\n']);
});
