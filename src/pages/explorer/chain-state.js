/** How far the index is, in a line that keeps up. */
import { h, replace } from '../ui/dom.js';
import { duration, grouped } from '../ui/format.js';
import { poll } from '../ui/poll.js';
import { request } from '../ui/request.js';

const POLL_MS = 4000;

/** The answer is at hand: what takes longer is a server that stands still, or no network. */
const TIMEOUT_MS = 10_000;

/** @typedef {{ phase: string, head: { number: number } | null, nodeHead: number | null, lagBlocks: number | null, lagSeconds: number | null, staleReason: string | null, etaSeconds: number | null, startBlock: number | null, reorgs: number }} Status */

/**
 * @param {HTMLElement} place
 * @param {() => void} onReorg called when a reorganisation took blocks back
 */
export function showChainState(place, onReorg) {
  let known = Number.POSITIVE_INFINITY;
  const { signal } = new AbortController(); // goes on as long as the page is there
  poll(POLL_MS, signal, async () => {
    try {
      /** @type {{ answer: Status }} */
      const { answer: status } = await request('status', { timeoutMs: TIMEOUT_MS });
      show(place, status);
      if (status.reorgs > known) onReorg();
      known = status.reorgs; // counted from the start of the server
    } catch {
      mark(place, 'bad', 'server not reached');
    }
  });
}

/**
 * @param {HTMLElement} place
 * @param {Status} status
 */
function show(place, { phase, head, nodeHead, lagBlocks, lagSeconds, staleReason, etaSeconds, startBlock }) {
  if (head === null) return mark(place, 'wait', 'index empty');
  const from = startBlock ? `, indexed from block ${grouped(startBlock)}` : '';
  place.title = `Block ${grouped(head.number)} of ${grouped(nodeHead ?? head.number)}${from}`;
  if (staleReason !== null) {
    place.title = staleReason;
    return mark(place, 'bad', `block ${grouped(head.number)}, ${duration(lagSeconds ?? 0)} old`);
  }
  if (phase === 'following') return mark(place, 'good', `block ${grouped(head.number)}`);
  if (phase === 'backfilling') {
    const eta = etaSeconds === null ? '' : `, ${duration(etaSeconds)} to go`;
    return mark(place, 'wait', `block ${grouped(head.number)}, ${grouped(lagBlocks ?? 0)} behind${eta}`);
  }
  mark(place, 'bad', `block ${grouped(head.number)}, index ${phase}`);
}

/**
 * @param {HTMLElement} place
 * @param {'good' | 'wait' | 'bad'} state
 * @param {string} text
 */
function mark(place, state, text) {
  place.dataset['state'] = state;
  replace(place, h('span', { class: 'lamp', 'aria-hidden': true }), text);
}
