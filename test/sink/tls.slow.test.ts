/** TLS to PostgreSQL as the table in docs/scaling.md promises, against a real server with certificates made here. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { ClusterSession, publicReason as keysReason } from '../../src/cluster/session.ts';
import { PostgresConnection } from '../../src/postgres/connection.ts';
import { postgresReason } from '../../src/postgres/reasons.ts';
import { nestedCleanup, suiteCleanup } from '../support/cleanup.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { type Authority, createAuthority } from '../support/sink/certificates.ts';
import { startPostgres, type TestPostgres } from '../support/sink/postgres.ts';
import { grow, startSink } from '../support/sink/sink.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const SETTING = 'sink.postgres.url';

/** `encrypted` or `plain` for a connection that works, else the reason shown. */
async function outcome(url: string): Promise<string> {
  let connection: PostgresConnection | undefined;
  try {
    connection = new PostgresConnection(url, { name: 'test', setting: SETTING, answerTimeoutMs: 30_000 });
    const [row] = await connection.within(
      connection.sql<{ ssl: boolean }[]>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
    );
    return row?.ssl ? 'encrypted' : 'plain';
  } catch (error) {
    return postgresReason(error, SETTING) ?? String(error);
  } finally {
    await connection?.close();
  }
}

describe('TLS to PostgreSQL', () => {
  const cleanup = suiteCleanup();
  const authority = createAuthority('Test authority');
  const other = createAuthority('Another authority');
  let dir: string;
  let server: TestPostgres;
  let plain: TestPostgres;
  /** Paths of PEM files. */
  const file = (name: string, text: string) => {
    const path = join(dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };

  /** Puts a certificate for these names into a stopped server and starts it. */
  const useCertificate = async (by: Authority, names: string[], options?: { expired?: boolean }) => {
    const { cert, key } = by.issue(names, options);
    await server.stop();
    const owner = statSync(server.dataDir);
    const put = (name: string, text: string) => {
      const path = join(server.dataDir, name);
      writeFileSync(path, text);
      chownSync(path, owner.uid, owner.gid);
      chmodSync(path, 0o600);
    };
    put('server.crt', cert);
    put('server.key', key);
    put('root.crt', authority.cert);
    await server.start();
  };

  before(async () => {
    dir = tempDir(cleanup);
    file('root.crt', authority.cert);
    file('other.crt', other.cert);
    const client = authority.issue(['atlas']);
    file('client.crt', client.cert);
    file('client.key', client.key);
    [server, plain] = await Promise.all([startPostgres(cleanup, { tls: true }), startPostgres(cleanup)]);
    await useCertificate(authority, ['127.0.0.1']);
  });

  const url = (host: string, query: string, { port } = server) =>
    `postgres://atlas@${host}:${port}/postgres?${query.replaceAll('DIR', dir)}`;
  const ip = '127.0.0.1';

  test('each sslmode does what psql does, where the server offers TLS and where it does not', async () => {
    for (const [query, expected] of [
      ['', 'encrypted'],
      ['sslmode=disable', 'plain'],
      ['sslmode=allow', 'encrypted'],
      ['sslmode=prefer', 'encrypted'],
      ['sslmode=require', 'encrypted'],
      ['ssl=true', 'encrypted'],
      ['sslmode=require&sslnegotiation=direct', 'encrypted'],
      ['sslmode=verify-ca&sslrootcert=DIR/root.crt', 'encrypted'],
      ['sslmode=verify-full&sslrootcert=DIR/root.crt', 'encrypted'],
    ] as const)
      assert.equal(await outcome(url(ip, query)), expected, query);
    for (const query of ['', 'sslmode=disable', 'sslmode=prefer', 'sslmode=allow'])
      assert.equal(await outcome(url(ip, query, plain)), 'plain', query);
    for (const mode of ['require', 'verify-ca', 'verify-full'])
      assert.match(
        await outcome(url(ip, `sslmode=${mode}`, plain)),
        new RegExp(`^PostgreSQL offers no TLS, which sslmode=${mode} in sink.postgres.url demands`),
      );
  });

  test('sslrootcert decides which authority is trusted, also with sslmode=require', async () => {
    const untrusted =
      /^the certificate of PostgreSQL is not signed by an authority that sink.postgres.url trusts/;
    for (const query of [
      'sslmode=verify-ca',
      'sslmode=verify-full',
      'sslrootcert=system',
      'sslmode=verify-ca&sslrootcert=DIR/other.crt',
      'sslmode=verify-full&sslrootcert=DIR/other.crt',
      'sslmode=require&sslrootcert=DIR/other.crt',
    ])
      assert.match(await outcome(url(ip, query)), untrusted, query);
  });

  test('verify-full compares the address or name of the URL with the certificate, verify-ca does not', async () => {
    const wrong = /^the certificate of PostgreSQL is for another host than that of sink.postgres.url/;
    const full = 'sslmode=verify-full&sslrootcert=DIR/root.crt';
    const ca = 'sslmode=verify-ca&sslrootcert=DIR/root.crt';
    try {
      await useCertificate(authority, ['localhost']);
      assert.equal(await outcome(url('localhost', full)), 'encrypted');
      assert.match(await outcome(url(ip, full)), wrong);
      assert.equal(await outcome(url(ip, ca)), 'encrypted');
      await useCertificate(authority, ['127.0.0.1']);
      assert.equal(await outcome(url(ip, full)), 'encrypted');
      assert.match(await outcome(url('localhost', full)), wrong);
      await useCertificate(authority, ['db.example', '127.0.0.1']);
      assert.equal(await outcome(url(ip, full)), 'encrypted');
      await useCertificate(authority, ['127.0.0.1'], { expired: true });
      assert.equal(await outcome(url(ip, ca)), 'the certificate of PostgreSQL has expired: renew it');
      assert.equal(await outcome(url(ip, 'sslmode=require')), 'encrypted');
    } finally {
      await useCertificate(authority, ['127.0.0.1']);
    }
  });

  test('a server that demands TLS, or a certificate of the client, is met or named', async () => {
    try {
      await server.useAccessRules('hostssl all all 127.0.0.1/32 trust');
      assert.match(
        await outcome(url(ip, 'sslmode=disable')),
        /without TLS: set sslmode=require in sink.postgres.url/,
      );
      assert.equal(await outcome(url(ip, '')), 'encrypted');
      await server.useAccessRules('hostnossl all all 127.0.0.1/32 trust');
      assert.match(
        await outcome(url(ip, 'sslmode=require')),
        /over TLS: add a line there, or set sslmode=disable/,
      );
      await server.useAccessRules('hostssl all all 127.0.0.1/32 cert');
      const client =
        'sslmode=verify-full&sslrootcert=DIR/root.crt&sslcert=DIR/client.crt&sslkey=DIR/client.key';
      assert.equal(await outcome(url(ip, client)), 'encrypted');
      assert.match(
        await outcome(url(ip, 'sslmode=require')),
        /demands a certificate of the client: set sslcert and sslkey/,
      );
      await server.useAccessRules('host all all 127.0.0.1/32 reject');
      assert.equal(
        await outcome(url(ip, '')),
        'PostgreSQL refuses: it refuses the user of sink.postgres.url',
      );
    } finally {
      await server.useAccessRules('host all all 127.0.0.1/32 trust');
    }
  });

  test('parameters that cannot be used name the setting and the way out', async () => {
    for (const [query, expected] of [
      [
        'sslmode=verify',
        /^sslmode in sink.postgres.url must be one of disable, prefer, require, verify-ca, verify-full$/,
      ],
      [
        'sslmode=verify-ca&sslrootcert=DIR/none.crt',
        /^the file of sslrootcert in sink.postgres.url cannot be read \(ENOENT\)$/,
      ],
      [
        'sslmode=require&sslcert=DIR/client.crt',
        /^sink.postgres.url needs both sslcert and sslkey, or neither$/,
      ],
      [
        'sslmode=require&sslcert=DIR/client.crt&sslkey=DIR/root.crt',
        /^sslrootcert, sslcert, sslkey or sslpassword in .* cannot be used/,
      ],
      ['channel_binding=require', /^channel_binding=require in .* remove it and set sslmode=verify-full/],
      [
        'no_such_setting=1',
        /^PostgreSQL refuses: a parameter of sink.postgres.url is unknown to it: see the log$/,
      ],
    ] as const)
      assert.match(await outcome(url(ip, query)), expected, query);
    assert.equal(await outcome(url(ip, 'connect_timeout=5&keepalives=1&gssencmode=disable')), 'encrypted');
  });

  test('the sink writes and the keys are shared over TLS, with reasons that name their own setting', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 40, 1);
    const query = `?sslmode=verify-full&sslrootcert=${dir}/root.crt`;
    const direct = await server.createDatabase('secure');
    await startSink(own, index, { url: direct + query, direct }).equals();
    const session = await ClusterSession.open(direct + query);
    await session.onKeysChanged(() => undefined); // a connection of its own
    await session.close();
    const wrong = `?sslmode=verify-full&sslrootcert=${dir}/other.crt`;
    const { client } = startSink(own, index, { url: direct + wrong, schema: 'second' });
    const reason = await waitFor(() => client.status.reason, { what: 'a reason' });
    assert.match(reason, /that sink.postgres.url trusts: name the authority's certificate with sslrootcert/);
    await assert.rejects(ClusterSession.open(direct + wrong), (error) =>
      /that access.postgres trusts/.test(keysReason(error)),
    );
  });
});
