/** What a typed or pasted text names: an address, a hash, a block, or something to look up. Pure functions. */
import type { Hex } from '../lib/hex.ts';

export type SearchSubject =
  | { kind: 'address'; address: Hex }
  /** Of a transaction or a block. */
  | { kind: 'hash'; hash: Hex }
  /** A number alone may also be the symbol of a token; `#7` or `block 7` may not. */
  | { kind: 'block'; number: number; isBare: boolean }
  /** A shortened address, such as `0x3f5c…f0be`. The parts are hex digits in lower case. */
  | { kind: 'addressPart'; start: string; end: string }
  | { kind: 'text'; text: string };

/** Addresses and hashes within a longer text, often without 0x. */
const SUBJECTS = /(?<![0-9a-z])(?:0x)?([0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-z])/g;

/** Signs around a text that was copied with them. */
const AROUND = /^[\s"'`<([{“”‘’«»]+|[\s"'`>)\]},;“”‘’«»]+$/g;

/** `1234`, or with one separator between groups: `1,234`, `12,34,567`, `1 234`, `1_234`, `1'234`. */
const NUMBER = /^(?:\d{1,15}|\d{1,3}(?:([,_'’\s])\d{2,3})(?:\1\d{2,3}){0,6})$/;
const MOST_DIGITS = 15;

const BLOCK_WORD = /^(?:#|(?:block|blk|height)(?:\s*(?:number|height|no\.?))?\s*[#:]?)\s*(?=[0-9])/;
const BLOCK_PATH = /(?:^|\/)blocks?\/(?:countdown\/)?(\d{1,15})(?![0-9a-z])/;

/** One digit less in front would select a sixteenth of all addresses. */
const ADDRESS_PART = /^0x([0-9a-f]{2,38})(?:…|⋯|\.{2,3}|\*)([0-9a-f]{2,38})$/;
const ADDRESS_START = /^0x([0-9a-f]{4,39})(?:…|⋯|\.{2,3}|\*)?$/;
const ADDRESS_DIGITS = 40;

export function readSearchText(input: string): SearchSubject {
  const stripped = input.replace(AROUND, '');
  const text = stripped === '' ? input.trim() : stripped;
  const plain = text.toLowerCase();
  return blockIn(plain) ?? subjectIn(plain) ?? addressPartIn(plain) ?? { kind: 'text', text };
}

function blockIn(plain: string): SearchSubject | null {
  const digits = plain.replace(BLOCK_WORD, '');
  const isBare = digits === plain;
  if (!isBare && /^0x[0-9a-f]{1,12}$/.test(digits)) return { kind: 'block', number: Number(digits), isBare };
  const path = isBare && isLink(plain) ? BLOCK_PATH.exec(pathOf(plain))?.[1] : undefined;
  if (path !== undefined) return { kind: 'block', number: Number(path), isBare: false };
  if (!NUMBER.test(digits)) return null;
  const number = digits.replace(/\D/g, '');
  return number.length > MOST_DIGITS ? null : { kind: 'block', number: Number(number), isBare };
}

/** The only address or hash of a text; of a link the first one in its path. */
function subjectIn(plain: string): SearchSubject | null {
  const [ofPath] = isLink(plain) ? digitsIn(pathOf(plain)) : [];
  const [only, ...others] = digitsIn(plain);
  const digits = ofPath ?? (others.length > 0 ? undefined : only);
  if (digits === undefined) return null;
  return digits.length === ADDRESS_DIGITS
    ? { kind: 'address', address: `0x${digits}` }
    : { kind: 'hash', hash: `0x${digits}` };
}

function addressPartIn(plain: string): SearchSubject | null {
  const [, start, end = ''] = ADDRESS_PART.exec(plain) ?? ADDRESS_START.exec(plain) ?? [];
  if (start === undefined || start.length + end.length >= ADDRESS_DIGITS) return null;
  return { kind: 'addressPart', start, end };
}

function digitsIn(plain: string): string[] {
  return [...new Set([...plain.matchAll(SUBJECTS)].map(([, digits = '']) => digits))];
}

function isLink(plain: string): boolean {
  return /^(?:[a-z]+:\/\/|[a-z0-9-]+(?:\.[a-z0-9-]+)+\/)/.test(plain);
}

function pathOf(plain: string): string {
  return plain.replace(/[?#].*$/s, '');
}

/** Endings of names that a naming service turns into addresses. */
const NAME = /^(?:[\p{L}\p{N}\p{Emoji}_-]+\.)+(?:eth|nad|mon|lens|crypto|nft|x|wallet|bnb|arb|base|sol)$/iu;

/** Whether a text is a name that only a naming service could turn into an address, such as `somebody.eth`. */
export function isServiceName(text: string): boolean {
  return NAME.test(text);
}
