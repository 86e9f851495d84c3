/** What to keep of JSON text that is parsed: projections, and the lazily parsed arrays that they leave. */

/**
 * What to keep of a value: all of it, some members, or an array with lazily parsed items. `bits`: `true` if a bloom has
 * ones and zeros, else nothing. `unlessTrue`: nothing; the item is odd if it is `true`. `unlessLow`: nothing for "0x0"
 * to "0x4", else all of it.
 */
export type Projection = ObjectProjection | LazyItems | Echo | 'whole' | 'bits' | 'unlessTrue' | 'unlessLow';

/**
 * A text that the parts of an item repeat, such as the hash of a receipt's transaction in its logs. Kept in the item
 * itself, dropped in its parts; the item is odd if they differ.
 */
export class Echo {
  /** The place of the text that is repeated. */
  readonly slot: number;
  readonly isKept: boolean;

  constructor(slot: number, isKept: boolean) {
    this.slot = slot;
    this.isKept = isKept;
  }
}

/**
 * Which members of an object to keep, each whole or projected in turn. Applied to an array, it applies to each item.
 */
export class ObjectProjection {
  /** The members that are or contain lazily parsed items. */
  readonly withItems: [name: string, members: ObjectProjection | LazyItems][] = [];
  private readonly byHash = new Map<number, Projection>();

  constructor(projected: Readonly<Record<string, Projection>>) {
    for (const [name, members] of Object.entries(projected)) this.add(name, members);
  }

  /** Adds a member later, for self-nesting objects. */
  add(name: string, members: Projection): this {
    let hash = 0;
    for (const byte of Buffer.from(name)) hash = nextHash(hash, byte);
    if (this.byHash.has(hash))
      throw new Error(`the member ${name} is listed twice or its hash collides with another member`);
    this.byHash.set(hash, members);
    if (members instanceof LazyItems || (members instanceof ObjectProjection && members.withItems.length > 0))
      this.withItems.push([name, members]);
    return this;
  }

  /** Looks a name up by its hash. Also finds an unlisted name whose hash collides. */
  get(hash: number): Projection | undefined {
    return this.byHash.get(hash);
  }
}

/** An array whose items, reduced to these members, stay text until they are read. Each item is parsed as a whole. */
export class LazyItems {
  readonly members: ObjectProjection;

  constructor(members: ObjectProjection) {
    if (members.withItems.length > 0) throw new Error('items cannot contain lazily parsed items');
    this.members = members;
  }
}

/** A hash of names, byte by byte. */
export function nextHash(hash: number, byte: number): number {
  return (hash * 31 + byte) | 0;
}

/** What the projection noticed about an array's items. */
export interface ItemFacts {
  /** Items whose parts contradict them. */
  odd: Set<number>;
  /** The last bloom with ones and zeros, and the position of its item. */
  lastBloom: { at: number; bloom: string } | null;
}

/**
 * The text of an array's items. Parsed one by one, each becomes garbage before the next collection; parsed at once, all
 * items of a block survive two collections, are copied in both, and fill the old generation.
 */
export class LazyJsonArray {
  readonly length: number;
  readonly facts: Readonly<ItemFacts>;
  private readonly text: Buffer<ArrayBuffer>;
  /** Start and end offset of each item. */
  private readonly bounds: Uint32Array;
  private readonly encoding: 'latin1' | 'utf8';

  /** Copies the text. */
  constructor(text: Uint8Array, bounds: Uint32Array, encoding: 'latin1' | 'utf8', facts: ItemFacts) {
    this.facts = facts;
    this.length = bounds.length / 2;
    this.text = Buffer.allocUnsafeSlow(text.length);
    this.text.set(text);
    this.bounds = bounds;
    this.encoding = encoding;
  }

  /** Parses an item; undefined, which JSON cannot express, when its text is not JSON. */
  at(index: number): unknown {
    try {
      return JSON.parse(
        this.text.toString(this.encoding, this.bounds[2 * index], this.bounds[2 * index + 1]),
      );
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return undefined;
    }
  }

  /**
   * Frees the memory of the text. Items can no longer be read. Otherwise it would stay until a full garbage collection,
   * which comes late because the collector sees only the small object that holds it.
   */
  release(): void {
    this.text.buffer.transfer(0);
  }
}
