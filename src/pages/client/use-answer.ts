/** The content of a section: the answers to its requests, reloaded when its inputs change. */
import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Answers, EndpointName, Query } from './answers.ts';
import type { Answered, Api, ApiExchange } from './api.ts';
import { ApiError, logFault } from './api-error.ts';

/** Delay before retrying what passes by itself, by the error's code. A node is away for longer than a restart takes. */
const RETRY_MS: Partial<Record<string, number>> = {
  not_ready: 3_000,
  unreachable: 3_000,
  node_unavailable: 10_000,
  upstream: 10_000,
};

const CHECK_MS = 10_000;

export interface Loaded<T> {
  /**
   * Result of the last success, undefined before the first. Stays during a reload. Null is an answer: that of a node to
   * a question about something it does not have.
   */
  data: T | undefined;
  exchanges: readonly ApiExchange[];
  error: unknown;
  loading: boolean;
  reload: () => void;
}

interface ApiContext {
  api: Api;
  /** Called when the server refuses the key. */
  onRefusedKey: (error: ApiError) => void;
}

export const ApiProvider = createContext<ApiContext | null>(null);

export function useApi(): Api {
  return useContextOrThrow().api;
}

/**
 * Checks whether the server still accepts the key after a connection broke, because revoking a key closes its sockets.
 */
export function useKeyCheck(): () => void {
  const { api, onRefusedKey } = useContextOrThrow();
  return () => {
    api.rpc('eth_chainId', [], AbortSignal.timeout(CHECK_MS)).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'unauthorized') onRefusedKey(error);
    });
  };
}

function useContextOrThrow(): ApiContext {
  const context = useContext(ApiProvider);
  if (context === null) throw new Error('a section is outside of ApiProvider');
  return context;
}

/** Answers to several requests, combined. */
export interface Bundle<T> {
  data: T;
  exchanges: readonly ApiExchange[];
}

/**
 * Runs `load` now and whenever `key` changes. Drops the results of older runs. Without `retries`, an answer that is not
 * ready stays so.
 */
export function useLoaded<T extends NonNullable<unknown> | null>(
  key: string,
  load: (api: Api, signal: AbortSignal) => Promise<Bundle<T>>,
  retries = true,
): Loaded<T> {
  const { api, onRefusedKey } = useContextOrThrow();
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'> & { key: string }>({
    key,
    data: undefined,
    exchanges: [],
    error: null,
    loading: true,
  });
  const [round, setRound] = useState(0);
  const loadRef = useRef(load);
  loadRef.current = load;
  const retriesRef = useRef(retries);
  retriesRef.current = retries;
  const reload = useCallback(() => setRound((count) => count + 1), []);
  /** The next run is a retry by itself: its error stays until the outcome, so that the view does not flicker. */
  const isRetry = useRef(false);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keepsError = isRetry.current;
    isRetry.current = false;
    setState((before) => ({
      ...before,
      key,
      data: before.key === key ? before.data : undefined,
      error: keepsError && before.key === key ? before.error : null,
      loading: true,
    }));
    loadRef.current(api, ending.signal).then(
      ({ data, exchanges }) => {
        if (!ending.signal.aborted) setState({ key, data, exchanges, error: null, loading: false });
      },
      (error: unknown) => {
        if (ending.signal.aborted) return;
        if (error instanceof ApiError && error.code === 'unauthorized') return onRefusedKey(error);
        logFault(error);
        setState((before) => ({ ...before, error, loading: false }));
        const delay = error instanceof ApiError ? RETRY_MS[error.code] : undefined;
        if (delay === undefined) return;
        timer = setTimeout(() => {
          if (!retriesRef.current) return;
          isRetry.current = true;
          reload();
        }, delay);
      },
    );
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [api, key, round]);
  const isOfKey = state.key === key;
  return { ...state, data: isOfKey ? state.data : undefined, loading: state.loading || !isOfKey, reload };
}

/** The answer of one endpoint. */
export function useAnswer<N extends EndpointName>(name: N, params: Query<N>): Loaded<Answers[N]> {
  return useLoaded(`${name} ${JSON.stringify(params)}`, async (api, signal) =>
    one(await api.get(name, params, signal)),
  );
}

export function one<T>({ data, exchange }: Answered<T>): Bundle<T> {
  return { data, exchanges: [exchange] };
}
