/** `eth_newBlockFilter`: the hashes of blocks that joined the chain since the last poll. */
import type { ChainView } from './chain-view.ts';
import type { Changes, Filter } from './filter.ts';

export class BlockFilter implements Filter {
  readonly logs = null;
  private readonly view: ChainView;
  private at: number;

  /** Starts from the view's current state. */
  constructor(view: ChainView) {
    this.view = view;
    this.at = view.at;
  }

  async changes(signal: AbortSignal): Promise<Changes> {
    await this.view.advance();
    const changes = this.view.since(this.at);
    if (changes === null) return { kind: 'lost' };
    signal.throwIfAborted(); // a client that has left gets these with its next poll
    this.at = this.view.at;
    const hashes = changes.filter(({ added }) => added).map(({ hash }) => `"${hash}"`);
    return { kind: 'list', json: `[${hashes}]` };
  }
}
