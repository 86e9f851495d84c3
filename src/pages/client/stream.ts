/** A WebSocket subscription, kept alive while a component is shown. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { socketUrl } from '../ui/router.ts';
import { useApi, useKeyCheck } from './use-answer.ts';

/** Backoff before reconnecting, doubled from the first value to the last. */
const MIN_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;

/** `off`: the server does not offer the stream, or refused it. */
export type StreamState = 'connecting' | 'live' | 'lost' | 'off';

interface Subscription<T> {
  path: '/ws' | '/ws/signals';
  method: 'eth_subscribe' | 'atlas_subscribe';
  params: unknown;
  onEvent: (event: T) => void;
  /** Called when the subscription resumes after an interruption, during which events were missed. */
  onResume?: () => void;
}

/** Null subscribes to nothing. */
export function useStream<T>(subscription: Subscription<T> | null): StreamState {
  const { key } = useApi();
  const checkKey = useRef(useKeyCheck()).current;
  const [state, setState] = useState<StreamState>('connecting');
  const latest = useRef(subscription);
  latest.current = subscription;
  const request =
    subscription && JSON.stringify([subscription.path, subscription.method, subscription.params]);
  useEffect(() => {
    const { path, method, params } = latest.current ?? {};
    if (request === null || path === undefined) return;
    let socket: WebSocket;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let backoffMs = MIN_BACKOFF_MS;
    let wasLive = false;
    let isRefused = false;
    const connect = () => {
      setState('connecting');
      socket = new WebSocket(socketUrl(`${path}?api_key=${encodeURIComponent(key)}`));
      socket.onopen = () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(String(data));
        if (message.error !== undefined) {
          isRefused = true;
          socket.close();
        } else if (message.id === 1) {
          setState('live');
          backoffMs = MIN_BACKOFF_MS;
          if (wasLive) latest.current?.onResume?.();
          wasLive = true;
        } else latest.current?.onEvent(message.params.result);
      };
      socket.onclose = () => {
        // A browser does not reveal why an upgrade was refused.
        if (isRefused || !wasLive) return setState('off');
        setState('lost');
        checkKey();
        timer = setTimeout(connect, backoffMs);
        backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2);
      };
    };
    connect();
    return () => {
      clearTimeout(timer);
      socket.onclose = null;
      socket.onmessage = null;
      socket.close();
    };
  }, [request, key]);
  return state;
}
