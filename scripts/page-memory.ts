/** The memory of a page, and the time its main thread works, as Chromium has them. */
import type { CDPSession, Page } from 'playwright-core';

export interface PageMemory {
  heapBytes: number;
  /** Nodes of the document, detached ones included. */
  nodes: number;
}

export class PageMeter {
  private readonly session: CDPSession;

  private constructor(session: CDPSession) {
    this.session = session;
  }

  static async attach(page: Page): Promise<PageMeter> {
    const session = await page.context().newCDPSession(page);
    // CPU time: by the clock, a busy machine would make every page slow.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new PageMeter(session);
  }

  /** After a garbage collection. */
  async memory(): Promise<PageMemory> {
    await this.session.send('HeapProfiler.collectGarbage');
    const metrics = await this.metrics();
    return { heapBytes: metrics.get('JSHeapUsedSize') ?? 0, nodes: metrics.get('Nodes') ?? 0 };
  }

  /** CPU seconds that the tasks of the main thread have taken so far. */
  async taskSeconds(): Promise<number> {
    return (await this.metrics()).get('TaskDuration') ?? 0;
  }

  private async metrics(): Promise<Map<string, number>> {
    const { metrics } = await this.session.send('Performance.getMetrics');
    return new Map(metrics.map(({ name, value }) => [name, value]));
  }
}
