/** `newHeads`: every block of the chain in order; after a reorg, every block of the new branch. */

import type { ChainBlock } from '../../chain/block.ts';
import type { ChainListener, ChainTracker } from '../../chain/tracker.ts';
import { DEEP_REORG } from '../close.ts';
import { awaitUpstream } from '../subscribe-errors.ts';
import { Notification, type Subscription, type Unsubscribe } from '../subscription.ts';

export class HeadStream implements ChainListener {
  private readonly chain: Pick<ChainTracker, 'acquire'>;
  private readonly subscriptions = new Set<Subscription>();

  constructor(chain: Pick<ChainTracker, 'acquire' | 'addListener'>) {
    this.chain = chain;
    chain.addListener(this);
  }

  async subscribe(subscription: Subscription): Promise<Unsubscribe> {
    const release = await awaitUpstream(this.chain.acquire());
    this.subscriptions.add(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      release();
    };
  }

  onBlockAdded({ json }: ChainBlock): void {
    if (this.subscriptions.size === 0) return;
    const notification = new Notification('eth_subscription', json);
    for (const subscription of this.subscriptions) subscription.push(notification);
  }

  onBlocksRemoved(): void {
    // As in geth and reth, clients get only the new blocks.
  }

  onDeepReorg(): void {
    for (const { connection } of this.subscriptions) connection.close(...DEEP_REORG);
  }
}
