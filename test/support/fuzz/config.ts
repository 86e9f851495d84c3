/** Any configuration input ends in a configuration or a ConfigError of one line. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FLAGS, type FlagValues } from '../../../src/config/flags.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { type Property, property } from './property.ts';

const names = [
  'node_http',
  'node_ws',
  'data_dir',
  'admin_token',
  'index.start_block',
  'index.head',
  'index.traces',
  'server.port',
  'server.host',
  'server.cors_origins',
  'server.trusted_proxies',
  'rpc.allow',
  'rpc.timeout_ms',
  'tiers.free.requests_per_second',
  'tiers.own.chain_depth',
  'chain.wrapped_native',
  'chain.native_contracts',
  'chain.unindexed_erc20',
  'trades.quote_tokens',
  'metrics.listen',
  'log.level',
  'nonsense',
  'index',
  '__proto__',
  'server.constructor',
];

const value = fc.oneof(
  fc.constantFrom(
    'true',
    '0',
    '-1',
    '1e9',
    '"x"',
    '[]',
    '["*"]',
    '{}',
    'nan',
    '1979-05-27',
    '"http://127.0.0.1:1"',
    "'''",
    '99999999999999999999',
  ),
  fc.string({ maxLength: 20 }),
);

const toml = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 6 })
      .map((lines) => lines.map(([name, v]) => `${name} = ${v}`).join('\n')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);

const env = fc.dictionary(
  fc.constantFrom(...names).map((name) => `ATLAS_${name.toUpperCase().replaceAll('.', '__')}`),
  fc.oneof(value, fc.string()),
  { maxKeys: 4 },
);

const flags: fc.Arbitrary<FlagValues> = fc.dictionary(
  fc.constantFrom(...FLAGS.map(({ flag }) => flag)),
  fc.oneof(value, fc.string()),
  { maxKeys: 4 },
);

const config = property(
  'configuration files, environments and flags',
  fc.record({ toml, env, flags }),
  (input) => {
    try {
      const { config } = parseConfig({
        file: { path: 'atlas.toml', text: input.toml },
        env: input.env,
        flags: input.flags,
        cwd: '/somewhere',
      });
      assert.ok(Number.isInteger(config.server.port) && config.data_dir.startsWith('/'));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      assert.ok(error.message.length > 0 && !error.message.includes('\n'), JSON.stringify(error.message));
    }
    assert.equal(Object.getOwnPropertyNames(Object.prototype).includes('polluted'), false);
  },
);

export const CONFIG: readonly Property[] = [config];
