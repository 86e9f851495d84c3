/** Lazily parsed items of a JSON array. */

/**
 * The text of an array's items. Parsed one by one, each is garbage before the next collection; all items of a block
 * parsed at once survive two collections, are copied in both, and fill the old generation.
 */
export class LazyJsonArray {
  readonly length: number;
  private readonly text: Buffer<ArrayBuffer>;
  /** Start and end offset of each item. */
  private readonly bounds: Uint32Array;
  private readonly encoding: 'latin1' | 'utf8';

  /** Copies the text. */
  constructor(text: Uint8Array, bounds: Uint32Array, encoding: 'latin1' | 'utf8') {
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
   * Frees the memory of the text; items can no longer be read. Without this it would stay until a full garbage
   * collection, which is late because it sees only the small object that holds it.
   */
  release(): void {
    this.text.buffer.transfer(0);
  }
}
