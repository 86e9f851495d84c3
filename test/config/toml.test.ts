import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';

function refuses(text: string, message: RegExp): void {
  assert.throws(
    () => parseConfig({ file: { path: 'atlas.toml', text } }),
    { name: 'ConfigError', message },
    text,
  );
}

test('bad TOML is refused with line, column and what is wrong', () => {
  refuses('[server]\nport = = 1', /^atlas.toml line 2, column \d+: not valid TOML: \S/);
  refuses('node_http = "http://a\n', /^atlas.toml line 1, column \d+: .*: the text has no closing quote/);
  refuses('a = 99999999999999999999', /^atlas.toml line 1, column \d+: .*: the number is too large$/);
  refuses('[log]\n[log]', /^atlas.toml line 2, column \d+: .*: this setting or table is there twice$/);
});

test('an unquoted text is refused with the missing quotes', () => {
  for (const value of ['http://127.0.0.1:8545', '“http://127.0.0.1:8545”'])
    refuses(
      `node_http = ${value} # mine`,
      /: put the text in quotes: node_http = "http:\/\/127\.0\.0\.1:8545"$/,
    );
  assert.throws(
    () => parseConfig({ file: { path: 'atlas.toml', text: 'server.port = 12x' } }),
    ({ message }) => !/quotes/.test(message),
  );
});
