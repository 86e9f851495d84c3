/** `newHeads`: every block of the chain in order; after a reorg every block of the new branch. */
import type { Chain, ChainListener } from './chain.ts';
import type { ChainBlock } from './chain-block.ts';
import { DEEP_REORG } from './closing.ts';
import { Notice } from './notice.ts';
import { orUnavailable } from './refusals.ts';
import type { End } from './session.ts';
import type { Subscription } from './subscription.ts';

export class Heads implements ChainListener {
  private readonly chain: Chain;
  private readonly subscriptions = new Set<Subscription>();

  constructor(chain: Chain) {
    this.chain = chain;
    chain.listen(this);
  }

  async open(subscription: Subscription): Promise<End> {
    const leave = await orUnavailable(this.chain.use());
    this.subscriptions.add(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      leave();
    };
  }

  added({ json }: ChainBlock): void {
    if (this.subscriptions.size === 0) return;
    const notice = new Notice('eth_subscription', json);
    for (const subscription of this.subscriptions) subscription.push(notice);
  }

  removed(): void {
    // Like geth and reth: only the new blocks are announced, not the removed ones.
  }

  lost(): void {
    for (const { outlet } of this.subscriptions) outlet.close(...DEEP_REORG);
  }
}
