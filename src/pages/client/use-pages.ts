/** A list loaded page by page. */
import { useState } from 'preact/hooks';
import type { Answered, Api } from './api.ts';
import { type Loaded, useApi, useLoaded } from './use-answer.ts';

/** Most rows in one list, to keep the page fast. Filters find older rows. */
const MAX_ROWS = 2_000;

export type Cursor = string | number | null;

interface Page<T> {
  items: readonly T[];
  /** Null at the end. */
  next: Cursor;
}

export interface Pages<T> extends Loaded<readonly T[]> {
  /** Loads the next page; null at the end of the list. */
  more: (() => void) | null;
  /** Whether the list is truncated. */
  isCut: boolean;
  /** Whether more than the first page is shown. */
  isLong: boolean;
}

interface Rest<T> extends Page<T> {
  /** The first page, which these follow. */
  first: Page<T> | undefined;
  loading: boolean;
  error: unknown;
}

/** `pick` extracts the rows from an answer. A reload starts from the first page again. `retries`: see `useLoaded`. */
export function usePages<T, A extends { nextCursor: Cursor }>(
  key: string,
  load: (api: Api, cursor: Cursor, signal: AbortSignal) => Promise<Answered<A>>,
  pick: (answer: A) => readonly T[],
  retries = true,
): Pages<T> {
  const api = useApi();
  const loadPage = async (cursor: Cursor, signal: AbortSignal) => {
    const { data, exchange } = await load(api, cursor, signal);
    return { data: { items: pick(data), next: data.nextCursor }, exchanges: [exchange] };
  };
  const first = useLoaded<Page<T>>(key, (_, signal) => loadPage(null, signal), retries);
  const none: Rest<T> = { first: first.data, items: [], next: null, loading: false, error: null };
  const [state, setState] = useState(none);
  const rest = state.first === first.data ? state : none;

  const items =
    first.data && (rest.items.length === 0 ? first.data.items : [...first.data.items, ...rest.items]);
  const next = rest.items.length === 0 ? (first.data?.next ?? null) : rest.next;
  const isCut = next !== null && (items?.length ?? 0) >= MAX_ROWS;
  const more = async () => {
    setState({ ...rest, loading: true, error: null });
    const ended = new AbortController();
    try {
      const { data } = await loadPage(next, ended.signal);
      setState({ ...rest, items: [...rest.items, ...data.items], next: data.next, loading: false });
    } catch (error) {
      setState({ ...rest, loading: false, error });
    }
  };
  return {
    ...first,
    data: items,
    loading: first.loading || rest.loading,
    error: first.error ?? rest.error,
    more: next === null || isCut ? null : () => void more(),
    isCut,
    isLong: rest.items.length > 0,
  };
}
