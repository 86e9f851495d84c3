/** The newest transfers of the chain as they are indexed, up to a limit. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answers, Status, Transfer } from './answers.ts';
import type { Answered, Api } from './api.ts';
import { logFault } from './api-error.ts';
import { type StreamState, useStream } from './stream.ts';
import { useApi } from './use-answer.ts';

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
  /** Of the last request for transfers; null while none failed. */
  error: unknown;
}

/** Blocks to replay, so that a list does not start empty. */
const REPLAYED = 10;

/** The first block of such a list: null until the status is known. */
export function useFirstBlock(status: Status | null | undefined): number | null {
  const [first, setFirst] = useState<number | null>(null);
  const head = status?.head?.number;
  if (first === null && head !== undefined) setFirst(Math.max(status?.startBlock ?? 0, head - REPLAYED));
  return first;
}

/**
 * Keeps at most `limit`, of all wallets or of one. Replays from `fromBlock`; null waits. While `paused`, new transfers
 * are only dropped from the view.
 */
export function useRecentTransfers(
  limit: number,
  fromBlock: number | null,
  paused = false,
  wallet: string | null = null,
): RecentTransfers {
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
      : {
          path: '/ws/signals',
          method: 'atlas_subscribe',
          params: { fromBlock, ...(wallet && { wallets: [wallet] }) },
          onEvent,
        },
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
  return { transfers, state, error: null };
}

/** A report of `/ws/signals` that the index has come to a block. */
interface Progress {
  progress?: { blockNumber: number; blockHash: string };
}

/** Most blocks to load after a report. Older ones are skipped: the list could not keep up. */
const MAX_BLOCKS = 10;
/** Transfers per request, and about the most of one block. */
const PAGE = 200;
const MAX_OF_BLOCK = 1_000;

/**
 * Like `useRecentTransfers`, with transfers of nothing, which are no signals: loads each block that is indexed. The
 * index must have `fromBlock`.
 */
export function useBlockTransfers(limit: number, fromBlock: number | null, paused = false): RecentTransfers {
  const api = useApi();
  const [transfers, setTransfers] = useState<readonly Transfer[]>([]);
  const reached = useRef({ number: -1, hash: '' });
  const wanted = useRef({ number: -1, hash: '' });
  const isLoading = useRef(false);
  const ending = useRef(new AbortController());
  const [error, setError] = useState<unknown>(null);
  useEffect(() => () => ending.current.abort(), []);

  const load = async () => {
    if (isLoading.current) return;
    isLoading.current = true;
    try {
      while (reached.current.number < wanted.current.number || reached.current.hash !== wanted.current.hash) {
        const report = wanted.current;
        const { number } = report;
        // After a reorg the report is no higher, and what was listed from there on has left the chain.
        const next = Math.max(reached.current.number + 1, number - MAX_BLOCKS + 1, fromBlock ?? 0);
        const first = Math.min(next, number);
        const { hash, added } = await blockTransfers(api, first, ending.current.signal);
        reached.current = { number: first, hash };
        setError(null);
        setTransfers((before) =>
          [...added, ...before.filter(({ blockNumber }) => blockNumber < first)].slice(0, limit),
        );
        // A later report may have come meanwhile.
        if (first === number && report === wanted.current) break;
      }
    } finally {
      isLoading.current = false;
    }
  };
  const onEvent = ({ progress }: Progress) => {
    if (progress === undefined || paused || document.hidden) return;
    wanted.current = { number: progress.blockNumber, hash: progress.blockHash };
    // A block that cannot be loaded is tried again at the next report.
    load().catch((error: unknown) => {
      if (ending.current.signal.aborted) return;
      logFault(error);
      setError(error);
    });
  };
  const state = useStream<Progress>(
    fromBlock === null
      ? null
      : {
          path: '/ws/signals',
          method: 'atlas_subscribe',
          params: { events: ['wallet_created'], progress: true, fromBlock },
          onEvent,
        },
  );
  return { transfers, state, error };
}

/** The transfers of a block, newest first. */
async function blockTransfers(api: Api, block: number, signal: AbortSignal) {
  const added: Transfer[] = [];
  for (let cursor: string | null = null; ; ) {
    const { data }: Answered<Answers['block_transfers']> = await api.get(
      'block_transfers',
      { block, limit: PAGE, cursor },
      signal,
    );
    added.push(...data.transfers);
    cursor = data.nextCursor;
    if (cursor === null || added.length >= MAX_OF_BLOCK)
      return { hash: data.blockHash, added: added.reverse() };
  }
}
