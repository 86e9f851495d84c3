/** Mistakes with the files of a certificate: each has one sentence that names the file, its setting and the way out. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import {
  chainProblem,
  peerCertificateProblem,
  type TlsFile,
  tlsFilesProblem,
} from '../../src/lib/tls-files.ts';
import { createAuthority } from '../support/sink/certificates.ts';

const authority = createAuthority('Test CA');
const { cert, key } = authority.issue(['node.lan']);
const other = authority.issue(['other.lan']);

function file(setting: string, bytes: string | Buffer): TlsFile {
  return { setting, path: `/etc/${setting}.pem`, bytes: Buffer.from(bytes) };
}

function problem(certText: string | Buffer, keyText: string | Buffer, passphrase?: string): string | null {
  return tlsFilesProblem(file('cert', certText), file('key', keyText), passphrase);
}

const encrypted = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();
const pem = (kind: string) => `-----BEGIN ${kind}-----\nMIIB\n-----END ${kind}-----\n`;

const MISTAKES: [what: string, cert: string | Buffer, key: string | Buffer, expected: RegExp][] = [
  ['swapped', key, cert, /^the files are swapped: \/etc\/cert\.pem \(cert\) holds a private key, and/],
  ['another key', cert, other.key, /^the key in \/etc\/key\.pem \(key\) is not that of the certificate in/],
  ['a text', 'hello', key, /^\/etc\/cert\.pem \(cert\) holds no PEM text .*: name the file of the cert/],
  ['nothing', '', key, /^\/etc\/cert\.pem \(cert\) holds nothing/],
  ['DER', new X509Certificate(cert).raw, key, /holds DER or PKCS #12, not PEM text/],
  ['a request', pem('CERTIFICATE REQUEST'), key, /holds a certificate request, not the certificate/],
  ['a key without a certificate', key, key, /\(cert\) holds a private key: name the file of the certificate/],
  ['a damaged certificate', pem('CERTIFICATE'), key, /^the certificate in \S+ \(cert\) is damaged: copy/],
  ['a damaged key', cert, pem('PRIVATE KEY'), /^the key in \/etc\/key\.pem \(key\) is damaged: copy/],
  ['a certificate as key', cert, cert, /^\/etc\/key\.pem \(key\) holds a certificate: name the file/],
  ['a public key', cert, pem('PUBLIC KEY'), /\(key\) holds a public key/],
  ['an encrypted key', cert, encrypted, /\(key\) has a passphrase, .*openssl pkey -in FILE -out NEW/],
  ['the issuer first', `${authority.cert}${cert}`, key, /in the wrong order: that of the server comes first/],
];

for (const [what, certText, keyText, expected] of MISTAKES)
  test(`${what} in place of the right file is named`, () => {
    const found = problem(certText, keyText);
    assert.match(found ?? 'no problem', expected);
    assert.doesNotMatch(found ?? '', /error:|PEM_|X509_|OSSL|undefined/);
  });

test('a certificate and its key are fine, also in one file and with a chain', () => {
  assert.equal(problem(cert, key), null);
  assert.equal(problem(`${key}${cert}`, `${key}${cert}`), null);
  assert.equal(problem(`${cert}${authority.cert}`, key), null);
  assert.match(problem(cert, encrypted, 'wrong') ?? '', /is damaged, or the passphrase is wrong/);
  assert.match(problem(cert, encrypted, 'secret') ?? '', /is not that of the certificate/);
});

test('an issuer that is missing from the chain is named', () => {
  assert.match(chainProblem(file('cert', cert)) ?? '', /does not hold the certificate of "Test CA"/);
  assert.equal(chainProblem(file('cert', `${cert}${authority.cert}`)), null);
  assert.match(
    chainProblem(file('cert', `${cert}${other.cert}`)) ?? '',
    /broken: certificate 1 is issued by "Test CA", and certificate 2 is that of "other\.lan"/,
  );
});

test('the certificate of a peer is judged in words', () => {
  const of = (code: string) => peerCertificateProblem(code, 'words of OpenSSL', 'the receiver');
  assert.match(of('CERT_HAS_EXPIRED') ?? '', /^the certificate of the receiver has expired: renew it/);
  assert.match(of('ERR_TLS_CERT_ALTNAME_INVALID') ?? '', /is for another host: use a name that it lists/);
  assert.match(of('UNABLE_TO_VERIFY_LEAF_SIGNATURE') ?? '', /lacks the certificate of its issuer/);
  assert.equal(of('ECONNREFUSED'), null);
});
