/** The head of the index and its age, as a lamp. The colour shows the age of the head's timestamp. */
import { useEffect, useState } from 'preact/hooks';
import type { Status } from '../client/answers.ts';
import { request } from '../client/request.ts';
import { duration, grouped } from '../ui/format.ts';

const POLL_MS = 4_000;
const TIMEOUT_MS = 10_000;

/** Ages in seconds from which a head is no longer fresh, and from which something is wrong. */
const WAIT_AFTER = 30;
const BAD_AFTER = 120;

/** Dispatched on `window` when a reorg removed blocks. */
const REORG = 'atlas-reorg';

type Seen = Status | null | undefined;

/** One poll for the whole page: two would show two heads. */
let seen: Seen;
const watchers = new Set<(status: Seen) => void>();
let stop: (() => void) | undefined;

/** The status of the index, polled; undefined at first, null when the server does not answer. */
export function useStatus(): Seen {
  const [status, setStatus] = useState<Seen>(seen);
  useEffect(() => {
    watchers.add(setStatus);
    setStatus(seen);
    stop ??= startPolling();
    return () => {
      watchers.delete(setStatus);
      if (watchers.size > 0) return;
      stop?.();
      stop = undefined;
    };
  }, []);
  return status;
}

function show(status: Seen): void {
  seen = status;
  for (const watcher of watchers) watcher(status);
}

/** Returns what ends it. */
function startPolling(): () => void {
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reorgs = Number.POSITIVE_INFINITY;
  const poll = async () => {
    try {
      if (!document.hidden) {
        const { answer } = await request('/status', { signal: ending.signal, timeoutMs: TIMEOUT_MS });
        const current = answer as Status;
        if (current.reorgs > reorgs) dispatchEvent(new Event(REORG));
        reorgs = current.reorgs; // counted since the server started
        show(current);
      }
    } catch {
      if (!ending.signal.aborted) show(null);
    }
    if (!ending.signal.aborted) timer = setTimeout(poll, POLL_MS);
  };
  void poll();
  return () => {
    clearTimeout(timer);
    ending.abort();
  };
}

export type Lamp = 'good' | 'wait' | 'bad';

/** The lamp and text for a state of the index. */
export function describeState(status: Status): { lamp: Lamp; text: string; title: string } {
  const { head, nodeHead, lagSeconds, lagBlocks, phase, staleReason, reason, etaSeconds, startBlock } =
    status;
  if (head === null) return { lamp: 'wait', text: 'index empty', title: reason ?? 'No block is indexed yet' };
  const age = lagSeconds ?? 0;
  const lamp =
    age > BAD_AFTER || staleReason !== null
      ? 'bad'
      : age > WAIT_AFTER || phase === 'paused'
        ? 'wait'
        : 'good';
  const filling = phase === 'backfilling' && etaSeconds !== null ? `, ${duration(etaSeconds)} to go` : '';
  const behind =
    phase === 'backfilling'
      ? `, ${grouped(lagBlocks ?? 0)} behind${filling}`
      : lamp === 'good'
        ? ''
        : `, ${duration(age)} old`;
  const range = `Block ${grouped(head.number)} of ${grouped(nodeHead ?? head.number)}`;
  const from = startBlock ? `, indexed from block ${grouped(startBlock)}` : '';
  return {
    lamp,
    text: `${grouped(head.number)}${behind}`,
    title: staleReason ?? reason ?? `${range}${from}`,
  };
}

export function ChainState() {
  const status = useStatus();
  if (status === undefined) return null;
  const { lamp, text, title } =
    status === null ? { lamp: 'bad' as const, text: 'server unreachable', title: '' } : describeState(status);
  return (
    <p class="chain small" title={title}>
      <span class={`lamp ${lamp}`} aria-hidden="true" />
      <span class="hidden-text">Head of the index: </span>
      {text}
    </p>
  );
}
