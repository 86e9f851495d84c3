/** TLS to PostgreSQL: the modes of psql, and what a failure means. */
import { readFileSync } from 'node:fs';
import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import { codeOf } from '../lib/errors.ts';
import { tlsFilesProblem } from '../lib/tls-files.ts';
import { PostgresSetupError, type TlsSettings } from './address.ts';

/** Asks whether the server offers TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const YES = 'S'.charCodeAt(0);

/** Whether the server offers TLS. Rejects when it answers more than one byte, which nobody could trust. */
export function offersTls(socket: Socket): Promise<boolean> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', () => reject(lost()));
    socket.once('data', (answer: Buffer) => {
      if (answer[0] === YES && answer.length > 1)
        reject(
          new PostgresSetupError('PostgreSQL sent data before the TLS handshake: somebody is in between'),
        );
      else resolve(answer[0] === YES);
    });
    socket.write(SSL_REQUEST);
  });
}

/** The connection to a server that has gone. */
export function lost(): Error {
  return Object.assign(new Error('PostgreSQL closed the connection before it was ready'), {
    code: 'CONNECTION_CLOSED',
  });
}

/** Reads the files. Throws PostgresSetupError. */
export function tlsOptions(
  { mode, root, cert, key, crl, password, isDirect }: TlsSettings,
  host: string,
  setting: string,
): ConnectionOptions {
  const read = (name: string, path: string) => {
    try {
      return readFileSync(path);
    } catch (error) {
      throw new PostgresSetupError(`the file of ${name} in ${setting} cannot be read (${codeOf(error)})`);
    }
  };
  const isChecked = mode === 'verify-ca' || mode === 'verify-full';
  const own =
    cert === null || key === null ? null : { cert: read('sslcert', cert), key: read('sslkey', key) };
  if (own !== null) {
    const problem = tlsFilesProblem(
      { setting: 'sslcert', path: cert ?? '', bytes: own.cert },
      { setting: 'sslkey', path: key ?? '', bytes: own.key },
      password ?? undefined,
    );
    if (problem !== null)
      throw new PostgresSetupError(
        `sslrootcert, sslcert, sslkey or sslpassword in ${setting} cannot be used: ${problem}`,
      );
  }
  return {
    servername: isIP(host) === 0 && !host.startsWith('/') ? host : '',
    rejectUnauthorized: isChecked,
    checkServerIdentity: (_, certificate) =>
      mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined,
    ...(isChecked && root !== null && root !== 'system' && { ca: read('sslrootcert', root) }),
    ...own,
    ...(crl !== null && { crl: read('sslcrl', crl) }),
    ...(password !== null && { passphrase: password }),
    ...(isDirect && { ALPNProtocols: ['postgresql'] }),
  };
}

/**
 * Resolves when the handshake is done. Rejects with PostgresSetupError where the settings or the server must change.
 */
export function encrypt(socket: Socket, options: ConnectionOptions, setting: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      const advice = TLS_ADVICE[codeOf(error)];
      reject(advice === undefined ? error : new PostgresSetupError(advice(setting), { cause: error }));
    };
    try {
      const secure = connect({ ...options, socket });
      secure.once('error', fail);
      secure.once('close', () => reject(lost()));
      secure.once('secureConnect', () => resolve(secure));
    } catch (error) {
      // OpenSSL's text names neither the file nor the setting.
      reject(
        new PostgresSetupError(
          `sslrootcert, sslcert, sslkey or sslpassword in ${setting} cannot be used (${codeOf(error)}): ` +
            'each file must be PEM, and the key that of the certificate',
          { cause: error },
        ),
      );
    }
  });
}

const unknownAuthority = (setting: string) =>
  `the certificate of PostgreSQL is not signed by an authority that ${setting} trusts: name the authority's ` +
  'certificate with sslrootcert';

const TLS_ADVICE: Record<string, (setting: string) => string> = {
  CERT_HAS_EXPIRED: () => 'the certificate of PostgreSQL has expired: renew it',
  CERT_NOT_YET_VALID: () => 'the certificate of PostgreSQL is not valid yet: compare the clocks',
  CERT_REVOKED: () => 'the certificate of PostgreSQL is revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: (setting) =>
    `the certificate of PostgreSQL is for another host than that of ${setting}: connect by a name or ` +
    'address that it lists, or set sslmode=verify-ca',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
};
