/** Messages and exit codes of errors, including native modules that fail to load. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeError, nativeLoadError } from '../../src/cli/errors.ts';
import { ConfigError, FatalError, RequestError } from '../../src/lib/errors.ts';

test('each kind of error has its exit code, and one line for each mistake', () => {
  assert.deepEqual(describeError(new ConfigError(['a\n', 'b'])), { lines: ['a', 'b'], exitCode: 2 });
  assert.deepEqual(describeError(new ConfigError('wrong')), { lines: ['wrong'], exitCode: 2 });
  assert.deepEqual(describeError(new RequestError(404, 'not_found', 'no key 7')), {
    lines: ['no key 7'],
    exitCode: 2,
  });
  assert.deepEqual(describeError(new FatalError('first\n  second')), {
    lines: ['first second'],
    exitCode: 1,
  });
  const unexpected = describeError(new TypeError('a\nb'));
  assert.equal(unexpected.exitCode, 1);
  assert.match(
    String(unexpected.lines),
    /^unexpected TypeError: a b at .*errors\.test\.ts.*; please report it$/,
  );
  const damage = Object.assign(new Error('database disk image is malformed'), { code: 'SQLITE_CORRUPT' });
  assert.match(String(describeError(damage).lines), /^a file in the data folder is damaged, .* move it away/);
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  assert.match(String(describeError(full).lines), /^the disk is full \(/);
  assert.deepEqual(describeError('text'), { lines: ['unexpected failure: text'], exitCode: 1 });
});

const DEBIAN = () => ({ os: 'linux', arch: 'x64', glibc: '2.31' });
const ALPINE = () => ({ os: 'linux', arch: 'x64', glibc: undefined });
const ARM = () => ({ os: 'linux', arch: 'arm64', glibc: '2.36' });

function loadError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

test('an old glibc is reported with the required version', () => {
  const cause = loadError(
    'ERR_DLOPEN_FAILED',
    "/lib/libc.so.6: version `GLIBC_2.34' not found (required by x.node)",
  );
  const error = nativeLoadError(new FatalError('cannot open keys.db', { cause }), DEBIAN);
  assert.match(error?.message ?? '', /^this system has glibc 2\.31, atlas-node needs 2\.34 or newer/);
});

test('distinguishes another C library, a missing binary and a missing package', () => {
  const missing = loadError(
    'MODULE_NOT_FOUND',
    "Cannot find module '/x/node_modules/better-sqlite3/better_sqlite3.node'\nRequire stack:",
  );
  assert.match(nativeLoadError(missing, ALPINE)?.message ?? '', /needs a Linux with glibc/);
  assert.match(
    nativeLoadError(missing, ARM)?.message ?? '',
    /^cannot load .*better_sqlite3.node on linux-arm64: run "npm run setup"/,
  );
  const uws = new Error(
    "This version of uWS.js (v20.51.0) supports only ...\n\nError: Cannot find module '@uwsjs/linux-arm64-22'",
  );
  assert.match(
    nativeLoadError(uws, ARM)?.message ?? '',
    /^cannot load @uwsjs\/linux-arm64-22 on linux-arm64/,
  );
  const noPackage = loadError('ERR_MODULE_NOT_FOUND', "Cannot find package 'ws' imported from /x/src/y.ts");
  assert.match(nativeLoadError(noPackage, ARM)?.message ?? '', /^cannot load ws on linux-arm64/);
});

test('errors of other kinds are not those of native modules', () => {
  assert.equal(nativeLoadError(new Error('x'), DEBIAN), undefined);
  assert.equal(
    nativeLoadError(loadError('ERR_MODULE_NOT_FOUND', "Cannot find module '/x/src/gone.ts'"), DEBIAN),
    undefined,
  );
  assert.equal(nativeLoadError(undefined, DEBIAN), undefined);
});

test('this process detects glibc if it runs on it', {
  skip: process.platform !== 'linux' && 'Linux only',
}, () => {
  const error = nativeLoadError(loadError('ERR_DLOPEN_FAILED', "version `GLIBC_9.99' not found"));
  assert.match(error?.message ?? '', /^this system has glibc (\d\.\d+|\(none\)), atlas-node needs 9\.99/);
});
