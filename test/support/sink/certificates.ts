/** Certificates for tests, made with Node's own cryptography: an authority, and certificates that it signs. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

interface Issued {
  cert: string;
  key: string;
}

export interface Authority {
  /** PEM. */
  cert: string;
  /** Signs a certificate for these host names and addresses. The first name is the common name. */
  issue(names: readonly string[], options?: { expired?: boolean }): Issued;
}

const DAY_MS = 86_400_000;

// DER: the few types that a certificate needs.

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  let size = [length];
  if (length > 0xff) size = [0x82, length >> 8, length & 0xff];
  else if (length > 0x7f) size = [0x81, length];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const utf8 = (text: string) => der(0x0c, Buffer.from(text));
const bits = (content: Uint8Array) => der(0x03, Buffer.from([0]), content);
const octets = (content: Uint8Array) => der(0x04, content);
const TRUE = der(0x01, Buffer.from([0xff]));
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));

/** Years from 2000 to 2049. */
function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`;
  return der(0x17, Buffer.from(text));
}

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const BASIC_CONSTRAINTS = oid('551d13');
const ALTERNATIVE_NAMES = oid('551d11');

const named = (name: string) => sequence(der(0x31, sequence(COMMON_NAME, utf8(name))));

function alternativeNames(names: readonly string[]): Buffer {
  const list = names.map((name) =>
    isIP(name) === 4 ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name)),
  );
  return sequence(ALTERNATIVE_NAMES, octets(sequence(...list)));
}

interface Content {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  signer: KeyObject;
  until: number;
  extension: Buffer;
}

function certificate({ subject, issuer, publicKey, signer, until, extension }: Content): string {
  const serial = randomBytes(8);
  serial[0] = 1;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    named(issuer),
    sequence(time(Date.now() - 30 * DAY_MS), time(until)),
    named(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const bytes = sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, signer)));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function newKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

export function createAuthority(name: string): Authority {
  const own = newKey();
  const issuer = { issuer: name, signer: own.privateKey };
  return {
    cert: certificate({
      ...issuer,
      subject: name,
      publicKey: own.publicKey,
      until: Date.now() + DAY_MS,
      extension: sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(TRUE))),
    }),
    issue(names, { expired = false } = {}) {
      const { publicKey, privateKey } = newKey();
      const cert = certificate({
        ...issuer,
        subject: names[0] ?? '',
        publicKey,
        until: Date.now() + (expired ? -DAY_MS : DAY_MS),
        extension: alternativeNames(names),
      });
      return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}
