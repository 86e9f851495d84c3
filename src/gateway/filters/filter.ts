/**
 * Filters that a client installs and polls: their interface, and those of blocks and of pending transactions.
 */
import type { ChainTracker } from '../../chain/tracker.ts';
import type { CallResult } from '../call.ts';

/** The subset of the chain that filters use. */
export type TrackedChain = Pick<ChainTracker, 'refresh' | 'journal' | 'oldestNumber'>;

/** `eth_newBlockFilter`: the hashes of blocks that joined the chain since the last poll. */
export class BlockFilter implements Filter {
  readonly logs = null;
  private readonly chain: TrackedChain;
  private position: number;

  /** Starts from the known chain. */
  constructor(chain: TrackedChain) {
    this.chain = chain;
    this.position = chain.journal.position;
  }

  async poll(signal: AbortSignal): Promise<Changes> {
    const { journal } = this.chain;
    await this.chain.refresh();
    const changes = journal.since(this.position);
    if (changes === null) return { kind: 'lost' };
    signal.throwIfAborted(); // a client that has disconnected gets them with its next poll
    this.position = journal.position;
    const hashes = changes.filter(({ added }) => added).map(({ hash }) => `"${hash}"`);
    return { kind: 'list', json: `[${hashes}]` };
  }
}

/** Changes since the last poll. */
export type Changes =
  /** JSON text of a list, in Latin-1. */
  | { kind: 'list'; json: string }
  /** The node's error. */
  | { kind: 'answer'; answer: CallResult }
  /** The changes are no longer known, so the filter ends. */
  | { kind: 'lost' };

export interface Filter {
  /** The `eth_getLogs` parameter of a log filter. */
  readonly logs: Readonly<Record<string, unknown>> | null;
  /** Calls never overlap. */
  poll(signal: AbortSignal): Promise<Changes>;
}

/** Stores only hashes, because anything else that a node announces has unbounded length. */
const HASH = /^"0x[0-9a-fA-F]{64}"$/;
/** Announced transactions to keep; up to twice as many between two clean-ups. */
const MAX_HASHES = 32_768;
/** The subscription ends after this long without a poll, milliseconds. By then all filters have expired. */
const IDLE_MS = 5 * 60_000;

interface PendingListener {
  /** `json` is a hash as JSON text. */
  onTransaction(json: string): void;
  /** The node ended the subscription. */
  onLost(): void;
}

/**
 * Once the node announces transactions, resolves with a function that ends the subscription. Rejects with
 * UpstreamError, `rpc` when the node does not offer it.
 */
export type PendingSource = (listener: PendingListener) => Promise<() => void>;

export class PendingView {
  private readonly source: PendingSource;
  private readonly clock: () => number;
  private listening: Promise<() => void> | null = null;
  private usedAt = 0;
  private hashes: string[] = [];
  /** Transactions announced so far, plus gaps between the announcements. */
  private count = 0;

  constructor(source: PendingSource, clock: () => number) {
    this.source = source;
    this.clock = clock;
  }

  /** Resolves with the position after the newest transaction once the source has started. Rejects like the source. */
  async begin(): Promise<number> {
    this.usedAt = this.clock();
    this.listening ??= this.listen();
    await this.listening;
    return this.count;
  }

  /** The hashes since a position as JSON texts, and the next position; null when some were dropped. */
  since(position: number): { hashes: string[]; next: number } | null {
    this.usedAt = this.clock();
    const known = this.count - this.hashes.length;
    return position < known ? null : { hashes: this.hashes.slice(position - known), next: this.count };
  }

  private listen(): Promise<() => void> {
    const isCurrent = () => this.listening === listening;
    const listening = this.source({
      onTransaction: (json) => {
        if (isCurrent()) this.remember(json);
      },
      onLost: () => {
        if (isCurrent()) this.end();
      },
    });
    listening.catch(() => {
      if (isCurrent()) this.end();
    });
    return listening;
  }

  private remember(json: string): void {
    if (this.clock() - this.usedAt > IDLE_MS) return this.end();
    if (!HASH.test(json)) return;
    this.count++;
    this.hashes.push(json);
    if (this.hashes.length > 2 * MAX_HASHES) this.hashes.splice(0, MAX_HASHES);
  }

  /** Invalidates all positions, because announcements until the next `begin` are missed. */
  private end(): void {
    const ended = this.listening;
    this.listening = null;
    this.hashes = [];
    this.count++;
    ended?.then(
      (release) => release(),
      () => undefined, // `begin` rejects with its error
    );
  }
}

export class PendingFilter implements Filter {
  readonly logs = null;
  private readonly view: PendingView;
  private position: number;

  constructor(view: PendingView, position: number) {
    this.view = view;
    this.position = position;
  }

  async poll(signal: AbortSignal): Promise<Changes> {
    const changes = this.view.since(this.position);
    if (changes === null) return { kind: 'lost' };
    signal.throwIfAborted(); // a client that has disconnected gets these with its next poll
    this.position = changes.next;
    return { kind: 'list', json: `[${changes.hashes}]` };
  }
}
