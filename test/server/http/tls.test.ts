import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { certificateDateError } from '../../../src/server/http/listener.ts';

const CERT = fileURLToPath(new URL('../../fixtures/tls/new-cert.pem', import.meta.url));

test('an expired or not yet valid certificate is reported with its date', () => {
  const cert = readFileSync(CERT);
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const at = (time: Date, ms: number) =>
    certificateDateError(CERT, cert, new Date(time.getTime() + ms)) ?? '';
  assert.equal(at(validToDate, -1), '');
  assert.match(at(validToDate, 1), /^server\.tls_cert: .*new-cert\.pem expired at .*: renew it/);
  assert.match(at(validFromDate, -1), /is not valid before .*: check the clock/);
});
