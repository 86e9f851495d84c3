import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { configText } from '../src/cli/init.ts';
import { checkPaths } from '../src/config/load-config.ts';
import { type ConfigInput, parseConfig } from '../src/config/parse-config.ts';
import { printConfig, printConfigJson } from '../src/config/print.ts';
import { configSchema } from '../src/config/schema.ts';
import { flatten } from '../src/config/tree.ts';
import { nodeAddresses } from '../src/config/urls.ts';
import { ConfigError } from '../src/lib/errors.ts';
import { tempDir } from './support/temp-dir.ts';

function fromToml(text: string, more: ConfigInput = {}) {
  return parseConfig({ file: { path: 'atlas.toml', text }, ...more });
}

/** The message of the ConfigError caused by an input. */
function refusal(input: ConfigInput): string {
  try {
    parseConfig(input);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    assert.ok(!error.message.includes('\n'), 'the message is one line');
    return error.message;
  }
  return assert.fail('the configuration was accepted');
}

function refusalOfToml(text: string): string {
  return refusal({ file: { path: 'atlas.toml', text } });
}

test('an empty configuration is all defaults, and says so', () => {
  const { config, sources } = parseConfig({ cwd: '/srv' });
  assert.equal(config.server.port, 8650);
  assert.equal(config.index.start_block, 'earliest');
  assert.equal(config.data_dir, '/srv/atlas-data');
  assert.deepEqual(config.tiers.free, {
    requests_per_month: 100_000,
    requests_per_second: 5,
    chain_depth: 5,
    max_hooks: 1,
  });
  assert.deepEqual(new Set(Object.values(sources)), new Set(['default']));
  assert.deepEqual(Object.keys(sources).sort(), [...flatten(configSchema.parse({})).keys()].sort());
});

test('a flag overrides the environment, which overrides the file, which overrides the default', () => {
  const text = '[server]\nport = 1001\nhost = "10.0.0.1"\n[log]\nlevel = "warn"';
  const env = { ATLAS_SERVER__PORT: '1002', ATLAS_SERVER__HOST: '10.0.0.2' };
  const { config, sources } = fromToml(text, { env, flags: { '--port': '1003' } });
  assert.deepEqual([config.server.port, config.server.host, config.log.level], [1003, '10.0.0.2', 'warn']);
  assert.equal(sources['server.port'], 'flag --port');
  assert.equal(sources['server.host'], 'env ATLAS_SERVER__HOST');
  assert.equal(sources['log.level'], 'file atlas.toml');
  assert.equal(sources['log.format'], 'default');
});

test('a list in the environment may be written as in the file', () => {
  for (const [text, allow] of [
    ['["debug_traceCall", "trace_*"]', ['debug_traceCall', 'trace_*']],
    ["[ 'trace_*' ]", ['trace_*']],
    ['[trace_*]', ['trace_*']],
    ['[]', []],
  ] as const)
    assert.deepEqual(parseConfig({ env: { ATLAS_RPC__ALLOW: text } }).config.rpc.allow, allow, text);
  const { config } = parseConfig({
    env: { ATLAS_NODE_HTTP: '["http://a:1", "http://b:2"]', ATLAS_NODE_WS: "['ws://a:1', 'ws://b:2']" },
  });
  assert.deepEqual([config.node_http, config.node_ws], ['http://a:1,http://b:2', 'ws://a:1,ws://b:2']);
});

test('environment texts become numbers, booleans, lists and names by the type of the setting', () => {
  const { config } = parseConfig({
    env: {
      ATLAS_NODE_HTTP: 'https://node.example/rpc',
      ATLAS_INDEX__START_BLOCK: '123',
      ATLAS_INDEX__TRACES: 'false',
      ATLAS_STREAM__PENDING: 'true',
      ATLAS_RPC__ALLOW: 'debug_traceCall, trace_*',
      ATLAS_SERVER__CORS_ORIGINS: '',
      ATLAS_CHAIN__SYMBOL: '1',
      ATLAS_TIERS__FREE__REQUESTS_PER_SECOND: '7',
    },
  });
  assert.equal(config.node_http, 'https://node.example/rpc');
  assert.equal(config.index.start_block, 123);
  assert.deepEqual([config.index.traces, config.stream.pending], [false, true]);
  assert.deepEqual(config.rpc.allow, ['debug_traceCall', 'trace_*']);
  assert.deepEqual(config.server.cors_origins, []);
  assert.equal(config.chain.symbol, '1');
  assert.deepEqual(config.tiers.free, {
    requests_per_month: 100_000,
    requests_per_second: 7,
    chain_depth: 5,
    max_hooks: 1,
  });
});

test('a relative path starts at the working directory and ~ at the home directory', () => {
  const dataDir = (data_dir: string) =>
    fromToml(`data_dir = "${data_dir}"`, { cwd: '/a/b', env: { HOME: '/home/x' } });
  assert.equal(dataDir('../c').config.data_dir, '/a/c');
  assert.equal(dataDir('/d').config.data_dir, '/d');
  assert.equal(dataDir('~/e').config.data_dir, '/home/x/e');
  assert.equal(dataDir('~').config.data_dir, '/home/x');
  assert.equal(parseConfig({ env: { ATLAS_DATA_DIR: '~/f' } }).config.data_dir, join(homedir(), 'f'));
});

test('an unknown setting is refused with its location and the right name', () => {
  assert.equal(
    refusalOfToml('\n[server]\nprot = 1'),
    'unknown setting "server.prot" in atlas.toml line 3; did you mean "server.port"?',
  );
  assert.equal(
    refusalOfToml('port = 1'),
    'unknown setting "port" in atlas.toml line 1; did you mean "server.port"?',
  );
  assert.match(
    refusalOfToml('[log]\nprot = 1'),
    /did you mean "server.port"\?$/,
    'in the wrong table, and swapped',
  );
  assert.equal(refusalOfToml('zzzzzzzz = 1'), 'unknown setting "zzzzzzzz" in atlas.toml line 1');
  assert.match(refusalOfToml('[sever]'), /^unknown setting "sever" in atlas.toml line 1/);
  assert.match(
    refusalOfToml('server = { prot = 1 }'),
    /"server.prot" in atlas.toml line 1; did you mean "server.port"/,
  );
  assert.equal(
    refusal({ env: { ATLAS_SERVER__PROT: '1' } }),
    'unknown setting "ATLAS_SERVER__PROT" in the environment; did you mean "ATLAS_SERVER__PORT"?',
  );
});

test('a table in place of a setting and a setting in place of a table are refused', () => {
  assert.equal(
    refusalOfToml('server = 1'),
    'server (atlas.toml line 1) is a table of settings, not a setting',
  );
  assert.match(
    refusalOfToml('[node_http]\nurl = "x"'),
    /^unknown setting "node_http.url" in atlas.toml line 2/,
  );
});

test('ignores the variables that Kubernetes sets for a service called atlas-node', () => {
  const env = {
    ATLAS_NODE_SERVICE_HOST: '10.0.0.1',
    ATLAS_NODE_SERVICE_PORT_HTTP: '80',
    ATLAS_NODE_PORT: 'tcp://10.0.0.1:80',
    ATLAS_NODE_PORT_80_TCP_ADDR: '10.0.0.1',
  };
  assert.deepEqual(parseConfig({ env }).config, parseConfig({}).config);
  assert.equal(
    refusal({ env: { ATLAS_SERVER_PORT: '9000' } }),
    'unknown setting "ATLAS_SERVER_PORT" in the environment; did you mean "ATLAS_SERVER__PORT"?',
  );
});

const WRONG_VALUES: [setting: string, toml: string, message: RegExp][] = [
  [
    'node_http',
    '"localhost:8545"',
    /^node_http must be a URL such as "http:.*, not "localhost:8545" \(atlas.toml line 1\)$/,
  ],
  ['node_http', '"ws://localhost"', /^node_http must be a URL/],
  ['node_ws', '"http://localhost"', /^node_ws must be a URL such as "ws:/],
  ['server.host', '"[::1]"', /^server.host must be a host name, or an IP address without brackets/],
  ['server.host', '"not a host"', /^server.host must be a host name/],
  ['server.host', '"300.1.1.1"', /^server.host must be a host name/],
  ['server.host', '""', /^server.host must be a host name/],
  ['server.port', '70000', /^server.port must be a whole number from 0 to 65535, not 70000/],
  ['server.port', '"8650"', /^server.port must be a whole number .*, not "8650"/],
  ['server.port', '1.5', /whole number/],
  ['server.cors_origins', '["https://a.example/path"]', /^server.cors_origins must be a list of origins/],
  [
    'index.start_block',
    '"first"',
    /^index.start_block must be "earliest", "latest" or a block number, not "first"/,
  ],
  ['index.start_block', '-1', /^index.start_block must be/],
  ['index.start_block', '1e20', /^index.start_block must be/],
  ['index.head', '"safe"', /^index.head must be one of "auto", "finalized", "latest"/],
  ['index.traces', '"yes"', /^index.traces must be true or false/],
  ['chain.wrapped_native', '["0x12"]', /^chain.wrapped_native must be a list of addresses/],
  ['trades.fee_sinks', '["0x12"]', /^trades.fee_sinks must be a list of addresses/],
  ['chain.native_contracts', '["0x12"]', /^chain.native_contracts must be a list of addresses/],
  ['chain.unindexed_erc20', '["0x12"]', /^chain.unindexed_erc20 must be a list of addresses/],
  ['rpc.allow', '["admin_*"]', /^rpc.allow must be a list of methods .* never of a namespace that controls/],
  ['rpc.allow', '["anvil_mine"]', /^rpc.allow must/],
  ['metrics.listen', '"300.1.1.1:9100"', /^metrics.listen must be host:port/],
  ['metrics.listen', '"9100"', /^metrics.listen must be host:port such as .* or empty/],
  ['tiers.free.chain_depth', '11', /^tiers.free.chain_depth must be a whole number from 1 to 10/],
  ['log.level', '2026-01-01', /^log.level must be one of/],
];

for (const [setting, value, message] of WRONG_VALUES) {
  test(`${setting} = ${value} is refused with what it must be`, () => {
    assert.match(refusalOfToml(`${setting} = ${value}`), message);
  });
}

test('a host is a name or an address of either kind', () => {
  for (const host of [
    'localhost',
    'my_node',
    'a-b.example.org',
    '0.0.0.0',
    '::',
    'fe80::1%eth0',
    '1and1.com',
  ])
    assert.equal(parseConfig({ flags: { '--host': host } }).config.server.host, host);
});

test('an invalid flag or variable is refused by its name', () => {
  assert.match(
    refusal({ flags: { '--port': 'abc' } }),
    /^server.port must be .*, not "abc" \(flag --port\)$/,
  );
  assert.match(
    refusal({ env: { ATLAS_INDEX__TRACES: '1' } }),
    /must be true or false, not 1 \(env ATLAS_INDEX__TRACES\)$/,
  );
});

test('an error does not repeat a refused admin token', () => {
  assert.ok(!refusalOfToml('admin_token = 424242').includes('424242'));
});

test('an admin token that no header can carry is refused, and not repeated', () => {
  for (const token of [
    'geheim-ü-und-lang-genug',
    'abcdef abcdef abcdef ',
    ' abcdef abcdef abcdef',
    'abc\tdef-abc-def-abc',
    'abc\ndef-abc-def-abc',
    ' ',
    'fifteen letters',
  ]) {
    const message = refusal({ env: { ATLAS_ADMIN_TOKEN: token } });
    assert.match(message, /^admin_token must be at least 16 printable ASCII .* \(env ATLAS_ADMIN_TOKEN\)$/);
    assert.ok(!message.includes(token.trim() || 'no token'));
  }
  for (const admin_token of ['', 'sixteen letters.', 'a phrase, with spaces!'])
    assert.equal(parseConfig({ env: { ATLAS_ADMIN_TOKEN: admin_token } }).config.admin_token, admin_token);
});

test('tables of any depth are refused like other unknown settings', () => {
  for (const depth of [20, 5_000, 100_000]) {
    const name = 'a.'.repeat(depth);
    assert.match(refusalOfToml(`${name}b = 1`), /^unknown setting "a\.a\./);
    assert.match(refusalOfToml(`[${name}b]\nc = 1`), /^unknown setting "a\.a\./);
    assert.match(
      refusalOfToml(`a = ${'['.repeat(depth)}${']'.repeat(depth)}`),
      /^(unknown setting|atlas.toml line 1)/,
    );
  }
});

test('contradicting settings are refused, each with its source', () => {
  assert.equal(
    refusalOfToml('[server]\ntls_cert = "a.pem"'),
    'server.tls_cert (file atlas.toml) is set but server.tls_key is empty: set both for TLS, or neither',
  );
  assert.match(
    refusalOfToml('server.public_explorer = true'),
    /^server.public_explorer \(file atlas.toml\) needs server.public_key: the number of a key/,
  );
  assert.match(
    refusalOfToml('rpc.logs_node_range = 20000'),
    /^rpc.logs_node_range \(file atlas.toml\) must not be above rpc.logs_max_range \(default\)/,
  );
  assert.match(
    refusalOfToml('stream.ping_seconds = 120'),
    /^stream.ping_seconds .* must be below stream.idle_seconds/,
  );
  assert.match(
    refusalOfToml('metrics.listen = "127.0.0.1:8650"'),
    /^metrics.listen .* is the address of server.port/,
  );
});

test('all mistakes are named at once, each on a line of its own', () => {
  const text = 'node_http = "x"\nserver.hots = "y"\n[log]\nlevel = "loud"\n';
  assert.throws(
    () => fromToml(text, { env: { ATLAS_SERVER__PORT: 'none' } }),
    ({ mistakes }: ConfigError) => {
      assert.deepEqual(
        mistakes.map((mistake) => /^(unknown setting "server.hots"|\S+)/.exec(mistake)?.[0]),
        ['unknown setting "server.hots"', 'node_http', 'log.level', 'server.port'],
      );
      return true;
    },
  );
  const apart = 'node_ws = "ws://a,ws://b"\n[stream]\nping_seconds = 200\n';
  assert.throws(
    () => fromToml(apart),
    ({ mistakes }: ConfigError) => mistakes.length === 2,
  );
});

test('several nodes are a list, each with its WebSocket or none', () => {
  const { config } = fromToml('node_http = "http://a, https://b/?x=1,2"\nnode_ws = "ws://a,wss://b"');
  assert.deepEqual(nodeAddresses(config), [
    { http: 'http://a', ws: 'ws://a' },
    { http: 'https://b/?x=1,2', ws: 'wss://b' },
  ]);
  assert.match(refusalOfToml('node_http = "http://a,http://b"\nnode_ws = "ws://a"'), /one for each node/);
  assert.match(refusalOfToml('node_http = "http://a,http://a"'), /the same node twice$/);
  assert.match(refusalOfToml('node_http = "http://a,b"'), /^node_http must be a URL/);
});

test('a tier of one’s own needs all its limits', () => {
  const limits = 'requests_per_month = 1\nrequests_per_second = 2\nchain_depth = 3';
  assert.deepEqual(fromToml(`[tiers.team]\n${limits}`).config.tiers.team, {
    requests_per_month: 1,
    requests_per_second: 2,
    chain_depth: 3,
    max_hooks: 5,
  });
  assert.match(refusalOfToml('tiers.team.chain_depth = 3'), /^tiers.team.requests_per_month is missing/);
});

test('refuses a malformed tier name without suggesting another tier', () => {
  const rule = 'is not a tier name: a lower-case letter, then such letters, digits and single underscores';
  for (const name of ['Team', 'my-tier', '2x', 'a__b']) {
    const place = `"tiers.${name}.chain_depth" in atlas.toml line 2`;
    assert.equal(refusalOfToml(`[tiers."${name}"]\nchain_depth = 3`), `"${name}" ${rule} (${place})`);
  }
  assert.match(refusalOfToml('[tiers."A b"]'), /^"A b" is not a tier name/);
  assert.match(refusalOfToml('[tiers.team]\nchain_dept = 3'), /^unknown setting "tiers.team.chain_dept"/);
});

test('the printed configuration reads back as the same one, with the secrets masked', () => {
  const text =
    'node_http = "https://user:pass@node.example/v2/abcdef0123456789abcdef?token=t0ps3cret"\nadmin_token = ' +
    '"hush-hush, a secret"';
  const parsed = fromToml(text, { flags: { '--port': '9000' }, cwd: '/srv' });
  const printed = printConfig(parsed);
  for (const secret of ['user', 'pass', 'abcdef', 't0ps3cret', 'hush']) {
    assert.ok(!printed.includes(secret), `${secret} is shown`);
    assert.ok(!printConfigJson(parsed).includes(secret), `${secret} is shown in JSON`);
  }
  assert.match(printed, /^port = 9000 +# flag --port$/m);
  assert.match(
    printed,
    /^node_http = "https:\/\/\*\*\*@node.example\/v2\/\*\*\*\?token=\*\*\*" +# file atlas.toml$/m,
  );
  const again = fromToml(printed.replace(/^(node_http|admin_token) = .*$/gm, '')).config;
  assert.deepEqual(
    { ...again, node_http: '', admin_token: '' },
    { ...parsed.config, node_http: '', admin_token: '' },
  );
});

test('a refused value is shown except for parts that may hold a password or a node key', () => {
  const shown = (value: string) => / not (".*") \(/.exec(refusalOfToml(`node_http = "${value}"`))?.[1];
  assert.equal(shown('localhost:8545'), '"localhost:8545"');
  assert.equal(shown('ftp://user:pass@node.example/'), '"ftp://***@node.example/"');
  for (const secret of ['user:pass@node.example', 'https//node.example/v2/abcdef0123456789abcdef']) {
    assert.equal(shown(secret), '"***"');
  }
});

test('the file that init writes is valid and changes nothing but the data folder', () => {
  const { config } = fromToml(configText('/srv/data'));
  assert.deepEqual(config, { ...parseConfig({}).config, data_dir: '/srv/data' });
});

test('unusable paths are refused by their setting', (t) => {
  const dir = tempDir(t);
  const file = join(dir, 'file');
  writeFileSync(file, 'x');
  const check = (text: string) => () => checkPaths(fromToml(text));
  assert.doesNotThrow(check(`data_dir = "${dir}/new/deep"`));
  assert.throws(
    check(`data_dir = "${file}"`),
    /^ConfigError: data_dir \(file atlas.toml\): cannot write to .*: .* is not a folder/,
  );
  assert.throws(
    check(`data_dir = "${file}/below"`),
    /^ConfigError: data_dir \(file atlas.toml\): cannot write/,
  );
  assert.throws(
    check(`data_dir = "${dir}"\nserver = { tls_cert = "${dir}/none.pem", tls_key = "${file}" }`),
    /^ConfigError: server.tls_cert \(file atlas.toml\): cannot read .*none.pem: no such file/,
  );
});
