/** Validates the operator's specification of a new hook. */
import { RequestError } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import { assertKnownMembers } from '../streams/subscribe-errors.ts';
import { parseSignalFilter } from '../streams/transfers/parse-filter.ts';
import type { StoredLists } from '../streams/transfers/transfer-filter.ts';
import { parseTarget } from './target.ts';

export const FORMATS = ['json', 'slack', 'discord', 'telegram'] as const;
export type HookFormat = (typeof FORMATS)[number];

export interface HookSpec {
  name: string;
  url: string;
  format: HookFormat;
  /** Telegram's chat id, else null. */
  chat: string | null;
  /** As given. A list named in it is read when events are matched. */
  filter: Record<string, unknown>;
  confirmations: number;
  finality: boolean;
  /** First block to deliver; null to start with new blocks. */
  fromBlock: number | null;
  /** keys.id of the owner, null for the operator. */
  key: number | null;
}

/** Members to change; a missing one stays as it is. */
export type HookChange = Partial<Pick<HookSpec, 'url' | 'filter'>>;

const CHANGEABLE = ['url', 'filter'];
export const HOOK_MEMBERS = [
  'name',
  'url',
  'format',
  'chat',
  'filter',
  'confirmations',
  'finality',
  'fromBlock',
  'key',
] as const satisfies readonly (keyof HookSpec)[];
const MAX_NAME_CHARS = 100;
const MAX_URL_CHARS = 2_000;
const MAX_CONFIRMATIONS = 100_000;

interface SpecContext {
  lists: StoredLists;
  /** `hooks.allow_private`. */
  allowPrivate: boolean;
}

/** Throws RequestError `invalid_params` naming the invalid member. */
export function parseHookSpec(value: unknown, { lists, allowPrivate }: SpecContext): HookSpec {
  if (!isObject(value)) throw invalid(undefined, 'send an object with "url"');
  assertKnownMembers(value, HOOK_MEMBERS);
  const format = FORMATS.find((known) => known === (value.format ?? 'json'));
  if (format === undefined) throw invalid('format', `format must be one of ${FORMATS.join(', ')}`);
  return {
    name: parseName(value.name ?? 'hook'),
    url: parseUrl(value.url, allowPrivate),
    format,
    chat: parseChat(value.chat, format),
    filter: parseFilter(value.filter ?? {}, lists),
    confirmations: parseInteger(value.confirmations ?? 0, 'confirmations', MAX_CONFIRMATIONS),
    finality: parseFinality(value.finality ?? false),
    fromBlock: parseOptionalInteger(value.fromBlock, 'fromBlock'),
    key: parseOptionalInteger(value.key, 'key'),
  };
}

/** Throws RequestError `invalid_params` naming the invalid member. */
export function parseHookChange(value: unknown, { lists, allowPrivate }: SpecContext): HookChange {
  if (!isObject(value)) throw invalid(undefined, 'send an object with "url", "filter" or both');
  assertKnownMembers(value, CHANGEABLE);
  const { url, filter } = value;
  if (url === undefined && filter === undefined)
    throw invalid(undefined, 'nothing to change: set url, filter or both');
  return {
    ...(url !== undefined && { url: parseUrl(url, allowPrivate) }),
    ...(filter !== undefined && { filter: parseFilter(filter, lists) }),
  };
}

function parseName(value: unknown): string {
  if (typeof value === 'string' && value.length <= MAX_NAME_CHARS && /^[^\p{Cc}]+$/u.test(value))
    return value;
  throw invalid('name', `name has 1 to ${MAX_NAME_CHARS} characters, and no control characters among them`);
}

function parseUrl(value: unknown, allowPrivate: boolean): string {
  if (typeof value !== 'string' || value.length > MAX_URL_CHARS)
    throw invalid('url', `url must be an http or https URL of at most ${MAX_URL_CHARS} characters`);
  const refusal = parseTarget(value, allowPrivate);
  if (typeof refusal === 'string') throw invalid('url', refusal);
  return value;
}

function parseChat(value: unknown, format: HookFormat): string | null {
  if (format !== 'telegram') return null;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^(-?\d{1,20}|@\w{1,64})$/.test(text)) return text;
  throw invalid('chat', 'chat must be the id of the telegram chat, or @channel');
}

/** A hook starts at its own `fromBlock`. It needs neither `lastSeen` nor `progress`, because its cursor is stored. */
function parseFilter(value: unknown, lists: StoredLists): Record<string, unknown> {
  if (!isObject(value)) throw invalid('filter', 'filter must be an object, as for atlas_subscribe');
  if ('fromBlock' in value || 'lastSeen' in value)
    throw invalid('filter', 'filter takes neither fromBlock nor lastSeen here: set fromBlock of the hook');
  if ('progress' in value)
    throw invalid('filter', 'filter takes no progress here: messages carry only events');
  try {
    parseSignalFilter(value, lists);
  } catch (error) {
    throw error instanceof RequestError ? invalid('filter', error.message) : error;
  }
  return value;
}

function parseFinality(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid('finality', 'finality must be true or false');
}

function parseOptionalInteger(value: unknown, name: string): number | null {
  return value === undefined || value === null ? null : parseInteger(value, name, Number.MAX_SAFE_INTEGER);
}

function parseInteger(value: unknown, name: string, max: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max) return value;
  throw invalid(name, `${name} must be a whole number from 0 to ${max}`);
}

/** `member`: for the command line, which names the flag that sets it. */
function invalid(member: string | undefined, message: string): RequestError {
  return new RequestError(400, 'invalid_params', message, member);
}
