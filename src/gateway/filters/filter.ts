/** A filter that a client installs and polls. */

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
