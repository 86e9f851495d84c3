/** `eth_newBlockFilter`: the hashes of blocks that joined the chain since the last poll. */
import type { ChainView } from './chain-view.ts';
import type { Changes, Filter } from './filter.ts';

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
    signal.throwIfAborted(); // a client that has left gets these with its next poll
    this.position = this.view.position;
    const hashes = changes.filter(({ added }) => added).map(({ hash }) => `"${hash}"`);
    return { kind: 'list', json: `[${hashes}]` };
  }
}
