/** The metadata calls to token contracts, and the parsing of their untrusted answers. */
import { decodeAbiParameters, hexToString, trim } from 'viem/utils';
import type { Hex } from '../lib/hex.ts';
import { isSemiFungible } from '../model/transfer-kind.ts';
import type { RpcCall } from '../node/client.ts';
import { contractCall } from '../node/methods.ts';
import type { UnreadToken } from '../store/tokens/token-metadata.ts';

const NAME = '0x06fdde03';
const SYMBOL = '0x95d89b41';
const DECIMALS = '0x313ce567';

/** Longest stored texts, in characters. */
const MAX_NAME = 128;
const MAX_SYMBOL = 64;

/** A contract's metadata; a field is null when the contract returns nothing usable. */
interface MetadataFields {
  name: string | null;
  symbol: string | null;
  decimals: number | null;
}

/** The metadata calls to a contract. An ERC-721 has decimals only if it is none (view-kind.ts). */
export function metadataCalls({ address, kind }: Pick<UnreadToken, 'address' | 'kind'>): RpcCall[] {
  const selectors = isSemiFungible(kind) ? [NAME, SYMBOL] : [NAME, SYMBOL, DECIMALS];
  return selectors.map((data) => contractCall(address, data, 'latest'));
}

/** Reads the results of `metadataCalls`, undefined for a call that failed. */
export function decodeMetadata([name, symbol, decimals]: readonly unknown[]): MetadataFields {
  return {
    name: sanitizeText(decodeText(name), MAX_NAME),
    symbol: sanitizeText(decodeText(symbol), MAX_SYMBOL),
    decimals: decodeDecimals(decimals),
  };
}

/** The text of an answer: a string, or zero-padded 32 bytes as in the first tokens. */
export function decodeText(data: unknown): string {
  if (!isHex(data)) return '';
  try {
    if (data.length === 66) return hexToString(trim(data, { dir: 'right' }));
    return decodeAbiParameters([{ type: 'string' }], data)[0];
  } catch {
    return paddedText(data);
  }
}

/** Text in the first of several words, as some contracts pad bytes32; empty unless it begins with an ASCII letter. */
function paddedText(data: Hex): string {
  const word = data.slice(2, 66);
  return /^[2-7][0-9a-f]{63}$/i.test(word) ? hexToString(trim(`0x${word}`, { dir: 'right' })) : '';
}

export function decodeDecimals(data: unknown): number | null {
  const value = decodeWord(data);
  return value !== null && value <= 255n ? Number(value) : null;
}

/** The first word of an answer, null if it is shorter. */
export function decodeWord(data: unknown): bigint | null {
  return isHex(data) && data.length >= 66 ? BigInt(data.slice(0, 66)) : null;
}

/**
 * One line without control, format and bidirectional characters, cut to `max` characters; null when nothing is left.
 * Reads only the beginning of a very long text.
 */
export function sanitizeText(text: string, max: number): string | null {
  const line = text
    .slice(0, max * 16)
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .trim();
  return [...line].slice(0, max).join('') || null;
}

function isHex(data: unknown): data is Hex {
  return typeof data === 'string' && data.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(data);
}
