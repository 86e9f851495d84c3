/** The memory of a page, as Chromium reports it. */
import type { CDPSession, Page } from 'playwright-core';

interface PageMemory {
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
    await session.send('Performance.enable');
    return new PageMeter(session);
  }

  /** After a garbage collection. */
  async memory(): Promise<PageMemory> {
    await this.session.send('HeapProfiler.collectGarbage');
    const metrics = await this.metrics();
    return { heapBytes: metrics.get('JSHeapUsedSize') ?? 0, nodes: metrics.get('Nodes') ?? 0 };
  }

  private async metrics(): Promise<Map<string, number>> {
    const { metrics } = await this.session.send('Performance.getMetrics');
    return new Map(metrics.map(({ name, value }) => [name, value]));
  }
}
