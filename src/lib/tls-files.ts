/** What is wrong with the files of a certificate and its key, in words: OpenSSL's name neither file nor way out. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, rootCertificates } from 'node:tls';
import { messageOf } from './errors.ts';

export interface TlsFile {
  /** The setting that names the file. */
  setting: string;
  path: string;
  bytes: Buffer;
}

/** The files that a text begins with `-----BEGIN `, and what people call them. */
const KINDS: readonly [begin: RegExp, kind: string][] = [
  [/-----BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/, 'a key with a passphrase'],
  [/-----BEGIN OPENSSH PRIVATE KEY/, 'a key of OpenSSH'],
  [/-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY/, 'a private key'],
  [
    /-----BEGIN (?:NEW )?CERTIFICATE REQUEST/,
    'a certificate request, not the certificate that was issued for it',
  ],
  [/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/, 'a certificate'],
  [/-----BEGIN (?:[A-Z0-9]+ )*PUBLIC KEY/, 'a public key'],
  [/-----BEGIN (?:PKCS ?#?7|CMS)/, 'a PKCS #7 container'],
];

/** DER and PKCS #12 begin with a sequence of more than 127 bytes. */
const DER_SEQUENCE = 0x30;

function kindOf({ bytes }: TlsFile): string {
  if (bytes.length === 0) return 'nothing';
  if (bytes[0] === DER_SEQUENCE && (bytes[1] ?? 0) > 0x7f) return 'DER or PKCS #12, not PEM text';
  const text = bytes.toString('latin1');
  return KINDS.find(([begin]) => begin.test(text))?.[1] ?? 'no PEM text (no line "-----BEGIN ...")';
}

/** Why the two are not a certificate and its key, null if they are. `passphrase` opens an encrypted key. */
export function tlsFilesProblem(cert: TlsFile, key: TlsFile, passphrase?: string): string | null {
  const [certKind, keyKind] = [kindOf(cert), kindOf(key)];
  const isKey = keyKind === 'a private key' || (keyKind === 'a key with a passphrase' && passphrase);
  const isCert = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(cert.bytes.toString('latin1'));
  if (!isCert && certKind.includes(' key') && keyKind === 'a certificate')
    return `the files are swapped: ${named(cert)} holds ${certKind}, and ${named(key)} a certificate`;
  if (!isCert) return `${named(cert)} holds ${certKind}: name the file of the certificate chain, in PEM`;
  if (keyKind === 'a key with a passphrase' && !isKey)
    return (
      `the key in ${named(key)} has a passphrase, which nobody enters here: write it without one ` +
      '(openssl pkey -in FILE -out NEW)'
    );
  if (!isKey) return `${named(key)} holds ${keyKind}: name the file of the certificate's private key, in PEM`;
  return pairProblem(cert, key, passphrase);
}

function pairProblem(cert: TlsFile, key: TlsFile, passphrase?: string): string | null {
  const chain = attempt(() => chainOf(cert));
  if (chain === null) return `the certificate in ${named(cert)} is damaged: copy it again`;
  const privateKey = attempt(() => createPrivateKey({ key: key.bytes, ...(passphrase && { passphrase }) }));
  if (privateKey === null) {
    const advice = passphrase ? 'damaged, or the passphrase is wrong' : 'damaged: copy it again';
    return `the key in ${named(key)} is ${advice}`;
  }
  const owner = chain.findIndex((each) => belongs(each, privateKey));
  if (owner < 0)
    return (
      `the key in ${named(key)} is not that of the certificate in ${named(cert)}: name the two that ` +
      'were made together'
    );
  if (owner > 0)
    return (
      `the certificates in ${named(cert)} are in the wrong order: that of the server comes first, then ` +
      'its issuers'
    );
  return refusalOf(cert, key, passphrase);
}

/** OpenSSL's own refusal, such as of a key that is too short. */
function refusalOf(cert: TlsFile, key: TlsFile, passphrase?: string): string | null {
  try {
    createSecureContext({ cert: cert.bytes, key: key.bytes, ...(passphrase && { passphrase }) });
    return null;
  } catch (error) {
    const reason = messageOf(error);
    if (/too small|too weak|md too/i.test(reason))
      return `the certificate in ${named(cert)} has a key or signature that is too weak for TLS today: issue a new one`;
    return `OpenSSL refuses the certificate in ${named(cert)} or the key in ${named(key)}: ${reason}`;
  }
}

function belongs(certificate: X509Certificate, key: KeyObject): boolean {
  return attempt(() => certificate.checkPrivateKey(key)) === true;
}

/** Why clients may not trust a chain that can be served: an issuer is missing. Null if none is. */
export function chainProblem(cert: TlsFile): string | null {
  const chain = attempt(() => chainOf(cert)) ?? [];
  for (const [i, { subject, issuer }] of chain.entries()) {
    if (subject === issuer) return null;
    const next = chain[i + 1];
    if (next !== undefined && next.subject !== issuer)
      return (
        `the chain in ${named(cert)} is broken: certificate ${i + 1} is issued by "${nameIn(issuer)}", ` +
        `and certificate ${i + 2} is that of "${nameIn(next.subject)}"`
      );
  }
  const last = chain.at(-1);
  if (last === undefined || isKnownRoot(last.issuer)) return null;
  return (
    `${named(cert)} does not hold the certificate of "${nameIn(last.issuer)}", the issuer of its last ` +
    'one: unless clients trust that issuer themselves, append it (the file is often called fullchain.pem)'
  );
}

function chainOf({ bytes }: TlsFile): X509Certificate[] {
  const blocks = bytes
    .toString('latin1')
    .match(
      /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g,
    );
  return (blocks ?? [bytes]).map((block) => new X509Certificate(block));
}

/** Whether a root that Node trusts has this name. Reads some 150 certificates, once per start or reload. */
function isKnownRoot(issuer: string): boolean {
  return rootCertificates.some((root) => new X509Certificate(root).subject === issuer);
}

function nameIn(subject: string): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ');
}

function named({ setting, path }: TlsFile): string {
  return `${path} (${setting})`;
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

const UNTRUSTED_CODES = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
] as const;

/** OpenSSL's codes for a certificate whose issuer this machine does not trust. */
export const UNKNOWN_ISSUER: ReadonlySet<string | undefined> = new Set(UNTRUSTED_CODES);

/** OpenSSL's messages for an answer that is not TLS. */
const NOT_TLS = /wrong version number|packet length too long|record layer failure|http request/i;

/** Whether a connection failed because its peer does not speak TLS. */
export function isNotTls(code: string | undefined, message: string): boolean {
  return code === 'EPROTO' && NOT_TLS.test(message);
}

/** Why the certificate of a peer was refused, by OpenSSL's code. `peer` is such as "the node". */
export function peerCertificateProblem(code: string, message: string, peer: string): string | null {
  if (code === 'CERT_HAS_EXPIRED')
    return `the certificate of ${peer} has expired: renew it there, or compare the clocks`;
  if (code === 'CERT_NOT_YET_VALID') return `the certificate of ${peer} is not valid yet: compare the clocks`;
  if (code === 'CERT_REVOKED') return `the certificate of ${peer} is revoked`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of ${peer} is for another host: use a name that it lists (${message})`;
  if (!UNKNOWN_ISSUER.has(code)) return null;
  const cause =
    code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
      ? 'it lacks the certificate of its issuer, or that issuer is not trusted'
      : 'its issuer is not trusted';
  return `${message}: the certificate of ${peer} is refused, ${cause}`;
}
