/** The certificate and its key. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError } from '../errors.ts';
import { messageOf } from '../lib/error-text.ts';

/**
 * The contents of both files. Throws ConfigError naming the setting when a file cannot be read or the two do not match;
 * the server library would not say why.
 */
export function readTlsFiles(certPath: string, keyPath: string): { cert: Buffer; key: Buffer } {
  const cert = readTlsFile('server.tls_cert', certPath);
  const key = readTlsFile('server.tls_key', keyPath);
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    throw new ConfigError(
      `server.tls_cert: ${certPath} and ${keyPath} are not a PEM certificate and its key: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Why clients refuse a certificate because of its dates, or null. It is a mistake, but no reason not to start. */
export function certificateDateError(certPath: string, cert: Buffer, now = new Date()): string | null {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const wrong =
    now > validToDate
      ? `expired at ${validToDate.toISOString()}: renew it`
      : now < validFromDate
        ? `is not valid before ${validFromDate.toISOString()}: see whether the clock is right`
        : null;
  return wrong === null ? null : `server.tls_cert: ${certPath} ${wrong}; clients refuse it`;
}

function readTlsFile(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${name}: cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}
