/** A filter that a client installed and polls. */

import type { ChainView } from '../../chain/view.ts';
import type { CallResult } from '../call.ts';

/** `eth_newBlockFilter`: the hashes of blocks that joined the chain since the last poll. */
export class BlockFilter implements Filter {
  readonly logs = null;
  private readonly view: ChainView;
  private position: number;

  /** Starts from the view's current state. */
  constructor(view: ChainView) {
    this.view = view;
    this.position = view.position;
  }

  async poll(signal: AbortSignal): Promise<Changes> {
    await this.view.refresh();
    const changes = this.view.changesSince(this.position);
    if (changes === null) return { kind: 'lost' };
    signal.throwIfAborted(); // a client that has left gets them with its next poll
    this.position = this.view.position;
    const hashes = changes.filter(({ added }) => added).map(({ hash }) => `"${hash}"`);
    return { kind: 'list', json: `[${hashes}]` };
  }
}

/** What happened since the last poll. */
export type Changes =
  /** JSON text of a list, in Latin-1. */
  | { kind: 'list'; json: string }
  /** The node's error. */
  | { kind: 'answer'; answer: CallResult }
  /** The changes are no longer known, so the filter ends. */
  | { kind: 'lost' };

export interface Filter {
  /** Parameter of `eth_getLogs` for a filter of logs. */
  readonly logs: Readonly<Record<string, unknown>> | null;
  /** Calls never overlap. */
  poll(signal: AbortSignal): Promise<Changes>;
}
