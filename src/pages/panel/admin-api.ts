/**
 * Requests to the panel's API. The session is a cookie that no script can read; the header proves that this page sent
 * the request.
 */
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { describeIndex, describeOverview, describeSockets } from '../../server/admin/describe.ts';
import type { createKey, listKeys, usageHistory } from '../../server/admin/keys.ts';
import type { AdminHooks, AdminOptions } from '../../server/admin/routes.ts';
import type { AdminSql } from '../../server/admin/sql.ts';
import { ApiError, apiErrorOf, errorText, logFault } from '../client/api-error.ts';
import { request } from '../client/request.ts';
import type { Loaded } from '../client/use-answer.ts';

/** The answers of the panel's API by path. */
export interface AdminAnswers {
  overview: ReturnType<typeof describeOverview>;
  index: ReturnType<typeof describeIndex>;
  sockets: ReturnType<typeof describeSockets>;
  keys: ReturnType<typeof listKeys>;
  usage: ReturnType<typeof usageHistory>;
  hooks: { hooks: ReturnType<AdminHooks['list']> };
  labels: { labels: ReturnType<AdminOptions['labels']['summary']> };
  lists: { lists: ReturnType<AdminHooks['lists']> };
  sql: ReturnType<AdminSql['describe']>;
  config: { settings: Record<string, { value: unknown; source: string }> };
}

export type IssuedKey = Awaited<ReturnType<typeof createKey>>;

/** Answers take milliseconds, so after this time none will come. */
const TIMEOUT_MS = 10_000;

/** Rejects with an ApiError, or with the signal's reason. */
export async function callAdmin(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { body, signal, timeoutMs = TIMEOUT_MS }: { body?: object; signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<unknown> {
  const { response, answer } = await request(`/admin/api/${path}`, {
    method,
    headers: { 'X-Atlas-Panel': '1', ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
    timeoutMs,
  });
  if (!response.ok) throw apiErrorOf(response.status, answer);
  return answer;
}

/** Called when the server no longer knows the session. */
export const SessionEnd = createContext<() => void>(() => undefined);

interface Answer<N extends keyof AdminAnswers> {
  query: string;
  data: AdminAnswers[N] | undefined;
  error: unknown;
  loading: boolean;
}

/** Polls an answer. `query` starts with `?`. Drops answers to an older query. */
export function usePolled<N extends keyof AdminAnswers>(
  name: N,
  everyMs: number,
  query = '',
): Loaded<AdminAnswers[N]> {
  const endSession = useContext(SessionEnd);
  const [round, setRound] = useState(0);
  const empty: Answer<N> = { query, data: undefined, error: null, loading: true };
  const [state, setState] = useState(empty);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async () => {
      try {
        if (!document.hidden) {
          const answer = await callAdmin('GET', name + query, { signal: ending.signal });
          setState({ query, data: answer as AdminAnswers[N], error: null, loading: false });
        }
      } catch (error) {
        if (ending.signal.aborted) return;
        if (hasEnded(error)) return endSession();
        setState((before) => ({ ...(before.query === query ? before : empty), error, loading: false }));
      }
      if (!ending.signal.aborted) timer = setTimeout(poll, everyMs);
    };
    void poll();
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [name, query, everyMs, round]);
  return { ...(state.query === query ? state : empty), exchanges: [], reload: () => setRound(round + 1) };
}

export interface Action {
  /** Why the last run failed, or empty. */
  problem: string;
  isRunning: boolean;
  /** Resolves with null on failure. A second call during the first does nothing. */
  run: <T>(work: () => Promise<T>) => Promise<T | null>;
}

/** The action of a button, with its outcome. */
export function useAction(): Action {
  const endSession = useContext(SessionEnd);
  const [problem, setProblem] = useState('');
  const [isRunning, setRunning] = useState(false);
  const lock = useRef(false);
  const run = async <T>(work: () => Promise<T>): Promise<T | null> => {
    if (lock.current) return null;
    lock.current = true;
    setRunning(true);
    setProblem('');
    try {
      return await work();
    } catch (error) {
      if (hasEnded(error)) endSession();
      else setProblem(adminErrorText(error));
      return null;
    } finally {
      lock.current = false;
      setRunning(false);
    }
  };
  return { problem, isRunning, run };
}

/** The panel's own errors contain advice and are shown verbatim. */
export function adminErrorText(error: unknown): string {
  logFault(error);
  const isOwn = error instanceof ApiError && OWN_CODES.includes(error.code);
  const text = isOwn ? error.message : errorText(error);
  return sentence(text);
}

/** A message of the server, which begins with a small letter and has no full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

const OWN_CODES = [
  'wrong_token',
  'too_many_failures',
  'storage',
  'damaged',
  'key_revoked',
  'invalid_params',
  'query_refused',
  'query_ended',
  'busy',
];

function hasEnded(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'not_signed_in';
}
