/** Notifications sent, by topic. Plain numbers that are copied to the metrics when these are collected. */
import { type Metrics, trackTotal } from '../metrics/metrics.ts';
import type { NotificationCount } from './subscription.ts';

export class NotificationCounts {
  private readonly byTopic = new Map<string, NotificationCount>();

  constructor(metrics: Pick<Metrics, 'notifications' | 'onCollect'>) {
    const follow = trackTotal(metrics.notifications);
    metrics.onCollect(() => {
      for (const [topic, { total }] of this.byTopic) follow(total, { topic });
    });
  }

  of(topic: string): NotificationCount {
    let count = this.byTopic.get(topic);
    if (count === undefined) {
      count = { total: 0 };
      this.byTopic.set(topic, count);
    }
    return count;
  }
}
