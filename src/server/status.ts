/** The state of the index in words and numbers. */
import { sep } from 'node:path';
import { internalTransfers } from '../lib/internal-transfers.ts';
import { etaSeconds, lagBlocks, lagSeconds } from '../lib/lag.ts';
import type { Logger } from '../log.ts';
import type { IndexStatus } from '../types.ts';

/** The index stalls when it gets no block for so long while the node has one: just under the required 30 s. */
const STALL_MS = 29_000;

/** How often the progress of the index is checked, milliseconds. */
const CHECK_INTERVAL_MS = 1_000;

/** Watches whether the index advances while the node has blocks for it. */
export class StallDetector {
  private readonly log: Logger;
  private head: number | null = null;
  /** Since when the index lacks a block of the node and has not moved; by `performance.now()`, which nobody can set. */
  private behindSince: number | null = null;
  private stallReported = false;

  constructor(log: Logger) {
    this.log = log;
  }

  /** Observes the state once a second until the returned function is called. */
  start(state: () => IndexStatus): () => void {
    const timer = setInterval(() => this.observe(state(), performance.now()), CHECK_INTERVAL_MS).unref();
    return () => clearInterval(timer);
  }

  /** To be called about once a second, with `now` by `performance.now()`. Logs the beginning and the end of a stall. */
  observe(state: IndexStatus, now: number): void {
    const head = state.head?.number ?? null;
    if (head !== this.head || !isBehind(state)) {
      if (this.stallReported) this.log.info({ head }, 'index moves again');
      this.head = head;
      this.behindSince = isBehind(state) ? now : null;
      this.stallReported = false;
    }
    this.behindSince ??= now;
    if (!this.stallReported && this.isStalled(state, now)) {
      this.log.error({ head, nodeHead: state.nodeHead, reason: state.reason }, 'index stalls');
      this.stallReported = true;
    }
  }

  /** Whether the index has not moved for too long. */
  isStalled(state: IndexStatus, now: number): boolean {
    const moved = (state.head?.number ?? null) !== this.head;
    return isBehind(state) && !moved && this.behindSince !== null && now - this.behindSince >= STALL_MS;
  }
}

function isBehind({ head, nodeHead }: IndexStatus): boolean {
  return nodeHead !== null && nodeHead > (head?.number ?? -1);
}

/** Why the service is not ready to answer for the present chain, or null when it is. */
export function notReadyReason(state: IndexStatus, readyLag: number, stalled: boolean): string | null {
  const { phase, reason, head, nodeHead } = state;
  const lag = lagBlocks(state);
  if (reason !== null) return reason;
  if (head === null) return phase === 'starting' ? 'waiting for the node' : 'no block is indexed yet';
  if (lag === null) return 'waiting for the node';
  if (stalled) return `no new block for ${STALL_MS / 1000} s although the node is at block ${nodeHead}`;
  if (lag > readyLag) return `${lag} blocks behind the node`;
  const ahead = head.number - (nodeHead ?? head.number);
  if (ahead > readyLag) return `the node is ${ahead} blocks behind the index, as while it syncs anew`;
  return phase === 'following' ? null : `the indexer is ${phase}`;
}

/**
 * Patterns of node addresses with their replacements: URLs, what the system could not connect to, and the names in a
 * certificate that TLS finds wrong.
 */
const NODE_ADDRESS_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:https?|wss?):\/\/[^\s"]+/g, 'the node'],
  [/\b(E[A-Z_]{4,}) [^\s",;)]+/g, '$1'],
  [/\b(certificate's altnames): .*?(?=; asked |$)/g, '$1'],
];

/**
 * The state for callers without a token, who must learn neither the node's address nor where `dataDir` is on this machine.
 * The log and the panel name both.
 */
export function redactLocations<S extends Pick<IndexStatus, 'reason'>>(state: S, dataDir: string): S {
  if (state.reason === null) return state;
  const reason = NODE_ADDRESS_PATTERNS.reduce(
    (text, [address, word]) => text.replace(address, word),
    state.reason.replaceAll(dataDir + sep, ''),
  );
  return { ...state, reason };
}

/** The answer of /status: the state with figures derived from it. */
export function describeStatus(state: IndexStatus, now: number) {
  const seconds = lagSeconds(state, now);
  const eta = etaSeconds(state);
  const { complete, reason } = internalTransfers(state);
  return {
    ...state,
    lagBlocks: lagBlocks(state),
    lagSeconds: seconds === null ? null : Math.round(seconds),
    etaSeconds: eta === null ? null : Math.round(eta),
    internalTransfers: complete,
    internalTransfersReason: reason,
  };
}
