/** Resolves typed or pasted text to its possible meanings. */
import type { Answers } from '../../client/answers.ts';
import type { Api } from '../../client/api.ts';
import type { Bundle } from '../../client/use-answer.ts';
import { addressPath, blockPath, tokenPath, transactionPath } from '../../ui/link.tsx';

export type Found = Answers['search']['results'][number];

/** Addresses and hashes within a longer text, such as a link to another explorer; often without 0x. */
const SUBJECTS = /(?<![0-9a-z])(?:0x)?([0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-z])/g;

/** Longest text that the API accepts. */
const MAX_CHARACTERS = 100;

export function pathOf({ kind, value }: Found): string {
  if (kind === 'token') return tokenPath(value);
  if (kind === 'transaction') return transactionPath(value);
  if (kind === 'block') return blockPath(value);
  return addressPath(value);
}

/** The API's results. An address, a hash or a number that the index lacks still has a page. */
export async function resolve(
  api: Api,
  text: string,
  signal: AbortSignal,
): Promise<Bundle<readonly Found[]>> {
  const subject = subjectIn(text);
  const q = (subject ?? text).slice(0, MAX_CHARACTERS);
  if (q === '') return { data: [], exchanges: [] };
  const { data, exchange } = await api.get('search', { q }, signal);
  const found = data.results.length > 0 || subject === null ? data.results : [unknown(subject)];
  return { data: found, exchanges: [exchange] };
}

function unknown(subject: string): Found {
  const kind = subject.length === 42 ? 'wallet' : subject.length === 66 ? 'transaction' : 'block';
  return { kind, value: subject, name: null, symbol: null, detail: null };
}

/** The only address or hash in a text, or its block number, in the API's form; null for other texts. */
export function subjectIn(text: string): string | null {
  const plain = text.trim().toLowerCase();
  const number = plain.replaceAll(',', '');
  if (/^[0-9]{1,15}$/.test(number)) return String(Number(number));
  const [found, ...others] = new Set([...plain.matchAll(SUBJECTS)].map(([, digits]) => digits));
  return found === undefined || others.length > 0 ? null : `0x${found}`;
}
