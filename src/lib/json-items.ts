/** Items of a JSON array that stay text until they are asked for. */

/**
 * The text of an array's items. Parsed one by one, each is garbage before the collector comes; all of a block at once
 * live through two collections, are copied in both, and fill the old generation.
 */
export class JsonItems {
  readonly length: number;
  private readonly text: Buffer<ArrayBuffer>;
  /** Of each item where it begins and where it ends. */
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

  /** Parses an item; undefined, which no JSON is, when its text is none. */
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
   * Gives the memory of the text back; no item can be asked for from then on. Without this it would stay until the whole heap
   * is collected, which sees only how small the object is that holds it.
   */
  release(): void {
    this.text.buffer.transfer(0);
  }
}
