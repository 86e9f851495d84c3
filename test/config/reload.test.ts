import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ParsedConfig, parseConfig } from '../../src/config/parse-config.ts';
import { mergeReload } from '../../src/config/reload.ts';

function parse(text: string): ParsedConfig {
  const { config, sources } = parseConfig({ file: { path: 'atlas.toml', text }, cwd: '/' });
  return { config, sources };
}

test('tiers, origins, the log level and certificate files are applied', () => {
  const next = parse(`
[server]
tls_cert = "b.pem"
tls_key = "b.key"
cors_origins = ["https://a.example"]
[log]
level = "warn"
[tiers.extra]
requests_per_month = 1
requests_per_second = 2
chain_depth = 3
`);
  const current = parse('[server]\ntls_cert = "a.pem"\ntls_key = "a.key"\n');
  const { parsed, changed, ignored } = mergeReload(current, next);
  assert.deepEqual(parsed, next);
  assert.deepEqual(ignored, []);
  assert.deepEqual(changed.sort(), [
    'log.level',
    'server.cors_origins',
    'server.tls_cert',
    'server.tls_key',
    'tiers.extra.chain_depth',
    'tiers.extra.max_hooks',
    'tiers.extra.requests_per_month',
    'tiers.extra.requests_per_second',
  ]);
});

test('a tier removed from the file is gone', () => {
  const extra = '[tiers.extra]\nrequests_per_month = 1\nrequests_per_second = 2\nchain_depth = 3\n';
  const { parsed } = mergeReload(parse(extra), parse(''));
  assert.ok(!('extra' in parsed.config.tiers));
  assert.ok(!Object.keys(parsed.sources).some((path) => path.startsWith('tiers.extra')));
});

test('other settings keep their values and sources, and are named', () => {
  const current = parse('node_http = "http://a.example"\n');
  const { parsed, changed, ignored } = mergeReload(
    current,
    parse('data_dir = "/elsewhere"\n[server]\nport = 1\n[log]\nformat = "json"\n'),
  );
  assert.deepEqual(parsed, current);
  assert.deepEqual(changed, []);
  assert.deepEqual(ignored.sort(), ['data_dir', 'log.format', 'node_http', 'server.port']);
});

test('TLS is not turned on or off', () => {
  const plain = parse('');
  const tls = parse('[server]\ntls_cert = "a.pem"\ntls_key = "a.key"\n');
  assert.deepEqual(mergeReload(plain, tls).ignored, ['server.tls_cert', 'server.tls_key']);
  assert.equal(mergeReload(plain, tls).parsed.config.server.tls_cert, '');
  assert.deepEqual(mergeReload(tls, plain).ignored, ['server.tls_cert', 'server.tls_key']);
  assert.equal(mergeReload(tls, plain).parsed.config.server.tls_cert, '/a.pem');
});
