/** The newest transfers of the chain as they are indexed, up to a limit. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Transfer } from './answers.ts';
import { type StreamState, useStream } from './stream.ts';

/** A signal of `/ws/signals`: a transfer seen from one of its sides. */
interface Signal extends Omit<Transfer, 'amount'> {
  /** Null for the native coin, which has `valueWei`. */
  amount: string | null;
  valueWei: string | null;
  removed?: boolean;
}

/** Shortest time between two redraws of the list, however many transfers arrive. */
const DRAW_MS = 500;

interface RecentTransfers {
  /** Newest first. */
  transfers: readonly Transfer[];
  state: StreamState;
}

/**
 * Keeps at most `limit`. Replays from `fromBlock`; null waits. While `paused`, new transfers are only dropped from the
 * view.
 */
export function useRecentTransfers(limit: number, fromBlock: number | null, paused = false): RecentTransfers {
  const [transfers, setTransfers] = useState<readonly Transfer[]>([]);
  const kept = useRef(new Map<string, Transfer>());
  const isDirty = useRef(false);
  const onEvent = (signal: Signal) => {
    const key = `${signal.txHash}${signal.eventIndex}`;
    isDirty.current = true;
    if (signal.removed) return void kept.current.delete(key);
    kept.current.set(key, {
      ...signal,
      amount: signal.amount ?? signal.valueWei ?? '0',
      direction: undefined,
    });
    if (kept.current.size > limit) kept.current.delete(kept.current.keys().next().value ?? '');
  };
  const state = useStream<Signal>(
    fromBlock === null
      ? null
      : { path: '/ws/signals', method: 'atlas_subscribe', params: { fromBlock }, onEvent },
  );
  useEffect(() => {
    if (paused) return;
    const timer = setInterval(() => {
      if (!isDirty.current || document.hidden) return;
      isDirty.current = false;
      setTransfers([...kept.current.values()].reverse());
    }, DRAW_MS);
    return () => clearInterval(timer);
  }, [paused]);
  return { transfers, state };
}
