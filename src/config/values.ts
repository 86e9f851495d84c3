/** The types of settings. Each describes what it accepts in one phrase, which becomes the error message. */
import { isIP } from 'node:net';
import * as z from 'zod';
import { ADDRESS_PATTERN } from '../model/address.ts';
import { NODE_CONTROL_NAMESPACES } from '../model/node-control.ts';
import { isHttpUrl } from './urls.ts';

/**
 * Labels of letters, digits, hyphens and underscores. The last must not be a number, which would be a mistyped IPv4
 * address.
 */
const HOST_NAME = /^(?:(?!-)[\w-]{1,63}\.)*(?!-|\d+\.?$)[\w-]{1,63}\.?$/;
const METHOD_PATTERN = /^[a-z][a-zA-Z0-9]*_(\*|[a-zA-Z0-9_]+)$/;

/** A whole number within bounds, inclusive. */
export function integer(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function bool() {
  return z.boolean({ error: 'must be true or false' });
}

export function text() {
  return z.string({ error: 'must be a text in quotes' });
}

/** A text that must not be empty. */
export function nonEmptyString(what: string) {
  const error = `must be ${what}`;
  return z.string({ error }).trim().min(1, { error });
}

/** A host name or address to listen on. */
export function host() {
  const error = 'must be a host name, or an IP address without brackets such as "127.0.0.1" or "::1"';
  return z.string({ error }).trim().refine(isHost, { error });
}

export function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `must be one of ${quoted(values)}` });
}

/** A text that satisfies `test`; `what` completes the sentence "must be ...". */
export function textThat(what: string, test: (value: string) => boolean) {
  const error = `must be ${what}`;
  return z.string({ error }).refine(test, { error });
}

/** A list of texts that each satisfy `test`. */
export function listOf(what: string, test: (value: string) => boolean) {
  const error = `must be a list of ${what}`;
  return z.array(z.string({ error }).refine(test, { error }), { error });
}

/** A height, or the first block of the index. */
export function firstBlock() {
  const error = 'must be "earliest" or a block number';
  return z.union([z.enum(['earliest']), z.int({ error }).min(0, { error })], { error });
}

/** A height, or the name of an end of the chain. */
export function startBlock() {
  const error = 'must be "earliest", "latest" or a block number';
  return z.union([z.enum(['earliest', 'latest']), z.int({ error }).min(0, { error })], { error });
}

/** Whether the name needs no quotes in SQL. */
export function isSchemaName(value: string): boolean {
  return /^[a-z_][a-z0-9_]{0,62}$/.test(value) && !value.startsWith('pg_');
}

export function isOrigin(value: string): boolean {
  return value === '*' || (isHttpUrl(value) && new URL(value).origin === value);
}

/** Whether an HTTP header can carry the text unchanged: printable ASCII, no space at either end. */
export function isHeaderText(value: string): boolean {
  return /^(?! )[ -~]*(?<! )$/.test(value);
}

/** Headers that the connection to a node itself depends on. */
const RESERVED_HEADERS = [
  /^(host|connection|upgrade|keep-alive|te|trailer|expect)$/i,
  /^(content-(length|type|encoding)|(transfer|accept)-encoding|sec-websocket-.*)$/i,
];

/** The name of a header that may be added to requests to a node. */
export function headerName() {
  const error = 'is not the name of a header: letters, digits and hyphens, and none that HTTP itself needs';
  return z
    .string({ error })
    .regex(/^[A-Za-z0-9_-]{1,64}$/, { error })
    .refine((name) => !RESERVED_HEADERS.some((form) => form.test(name)), { error });
}

/** An IP address, or a network in CIDR notation. */
export function isNetwork(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  return (
    isIP(address) !== 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  );
}

export function isAddress(value: string): boolean {
  return ADDRESS_PATTERN.test(value);
}

/** A method name or `namespace_*` that may be offered to keys. */
export function isAllowableMethod(value: string): boolean {
  return (
    METHOD_PATTERN.test(value) &&
    !NODE_CONTROL_NAMESPACES.some((namespace) => value.startsWith(`${namespace}_`))
  );
}

/** Host and port of `host:port` or `[ipv6]:port`, or undefined for any other text. */
export function parseListen(value: string): { host: string; port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(value);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host !== undefined && isHost(host) && port <= 65_535 ? { host, port } : undefined;
}

function isHost(value: string): boolean {
  return isIP(value) !== 0 || HOST_NAME.test(value);
}

function quoted(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(', ');
}
