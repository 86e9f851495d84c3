/** The memory of a page, as Chromium reports it. */
import type { CDPSession, Page } from 'playwright-core';

interface PageMemory {
  heapBytes: number;
  /** Nodes of the document, detached ones included. */
  nodes: number;
}

/** Runs in the page, on the list of all objects. */
const COUNT = `function (property) {
  let objects = 0;
  let largestList = 0;
  for (const one of this) {
    if (Object.hasOwn(one, property)) objects++;
    const entries = Array.isArray(one) ? one.length : one instanceof Map || one instanceof Set ? one.size : 0;
    largestList = Math.max(largestList, entries);
  }
  return { objects, largestList };
}`;

interface HeldObjects {
  /** Objects with the property. */
  objects: number;
  /** Entries of the largest array, map or set. */
  largestList: number;
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

  /**
   * What scripts hold after a garbage collection. Unlike bytes, these counts do not depend on what the engine compiled
   * or cached.
   */
  async held(property: string): Promise<HeldObjects> {
    const objectGroup = 'held-objects';
    const { session } = this;
    try {
      const { result: prototype } = await session.send('Runtime.evaluate', {
        expression: 'Object.prototype',
        objectGroup,
      });
      const { objects } = await session.send('Runtime.queryObjects', {
        prototypeObjectId: prototype.objectId ?? '',
        objectGroup,
      });
      const { result } = await session.send('Runtime.callFunctionOn', {
        objectId: objects.objectId ?? '',
        functionDeclaration: COUNT,
        arguments: [{ value: property }],
        returnByValue: true,
      });
      return result.value;
    } finally {
      await session.send('Runtime.releaseObjectGroup', { objectGroup });
    }
  }

  private async metrics(): Promise<Map<string, number>> {
    const { metrics } = await this.session.send('Performance.getMetrics');
    return new Map(metrics.map(({ name, value }) => [name, value]));
  }
}
