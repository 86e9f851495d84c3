/** Resolves typed or pasted text to its possible meanings. */
import { readSearchText, type SearchSubject } from '../../../model/search-text.ts';
import type { Answers } from '../../client/answers.ts';
import type { Api } from '../../client/api.ts';
import type { Bundle } from '../../client/use-answer.ts';
import { addressPath, blockPath, tokenPath, transactionPath } from '../../ui/link.tsx';

export type Found = Answers['search']['results'][number];

/** Longest text that the API accepts. */
const MAX_CHARACTERS = 100;

export function pathOf({ kind, value }: Found): string {
  if (kind === 'token') return tokenPath(value);
  if (kind === 'transaction') return transactionPath(value);
  if (kind === 'block') return blockPath(value);
  return addressPath(value);
}

export interface SearchAnswer {
  results: readonly Found[];
  /** Why something is not among them. */
  note: string | null;
  /** A block that the index lacks, though the node may have it. */
  block: number | null;
}

/** The API's results. An address or a hash that the index lacks still has a page. */
export async function resolve(api: Api, text: string, signal: AbortSignal): Promise<Bundle<SearchAnswer>> {
  const subject = readSearchText(text);
  const q = queryOf(subject, text).slice(0, MAX_CHARACTERS);
  if (q === '') return { data: { results: [], note: null, block: null }, exchanges: [] };
  const { data, exchange } = await api.get('search', { q }, signal);
  const { note } = data;
  const results = data.results.length > 0 ? data.results : unknown(subject);
  const block = subject.kind === 'block' && note !== null ? subject.number : null;
  return { data: { results, note, block }, exchanges: [exchange] };
}

/** What a text names, in the API's shortest form, because a pasted link may be too long for it. */
function queryOf(subject: SearchSubject, text: string): string {
  if (subject.kind === 'address') return subject.address;
  if (subject.kind === 'hash') return subject.hash;
  return subject.kind === 'block' && !subject.isBare ? `#${subject.number}` : text.trim();
}

function unknown(subject: SearchSubject): Found[] {
  const rest = { name: null, symbol: null, detail: null };
  if (subject.kind === 'address') return [{ kind: 'wallet', value: subject.address, ...rest }];
  return subject.kind === 'hash' ? [{ kind: 'transaction', value: subject.hash, ...rest }] : [];
}

/** Whether a text names one page, so that suggestions would be of no use. */
export function namesOnePage(text: string): boolean {
  return ['address', 'hash', 'block'].includes(readSearchText(text).kind);
}
