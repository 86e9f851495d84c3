/** A binary heap: the first of its items by an order, while others are added. */
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.isBefore = isBefore;
  }

  /** The first item; undefined when empty. */
  get first(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const { items, isBefore } = this;
    let at = items.push(item) - 1;
    for (let above = (at - 1) >> 1; at > 0 && isBefore(item, items[above]!); above = (at - 1) >> 1) {
      items[at] = items[above]!;
      at = above;
    }
    items[at] = item;
  }

  /** Removes the first item and returns it; undefined when empty. */
  pop(): T | undefined {
    const { items, isBefore } = this;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let at = 0;
    for (let below = 1; below < items.length; below = 2 * at + 1) {
      const right = below + 1;
      const next = right < items.length && isBefore(items[right]!, items[below]!) ? right : below;
      if (!isBefore(items[next]!, last)) break;
      items[at] = items[next]!;
      at = next;
    }
    items[at] = last;
    return first;
  }
}
