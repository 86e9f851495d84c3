/** Replacements of parts of a query. */

interface Edit {
  start: number;
  end: number;
  text: string;
}

export class Edits {
  private readonly source: string;
  /** In the order of the source. None overlaps with another. */
  private readonly edits: Edit[];
  private readonly sources: readonly Edit[];

  /** `literals` are replacements that do not overlap with any other. */
  constructor(source: string, literals: readonly Edit[]) {
    this.source = source;
    this.sources = literals;
    this.edits = [...literals];
  }

  replace(start: number, end: number, text: string): void {
    this.edits.splice(this.firstFrom(start), 0, { start, end, text });
  }

  remove(start: number, end: number): void {
    const first = this.firstFrom(start);
    // What stands in the removed part is not replaced.
    const removed = this.countWithin(first, end);
    this.edits.splice(first, removed, { start, end, text: '' });
  }

  original({ start, end }: { start: number; end: number }): string {
    return this.source.slice(start, end);
  }

  /** A part of the query with its replacements. */
  text(start = 0, end = this.source.length): string {
    const first = this.firstFrom(start);
    const parts: string[] = [];
    let at = start;
    for (const edit of this.edits.slice(first, first + this.countWithin(first, end))) {
      parts.push(this.source.slice(at, edit.start), edit.text);
      at = edit.end;
    }
    parts.push(this.source.slice(at, end));
    return parts.join('');
  }

  /**
   * The position of the first edit that begins there or later. A query has tens of thousands where it lists addresses.
   */
  private firstFrom(start: number): number {
    let [low, high] = [0, this.edits.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.edits[middle]!.start < start) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private countWithin(first: number, end: number): number {
    let count = 0;
    while ((this.edits[first + count]?.end ?? Number.POSITIVE_INFINITY) <= end) count++;
    return count;
  }

  /** Puts the original parts back into a text of SQLite, longest replacement first. */
  restore(text: string): string {
    if (!text.includes('#') && this.sources.length === 0) return text;
    const edits = this.edits.filter((edit) => edit.text !== '');
    return edits
      .sort((a, b) => b.text.length - a.text.length)
      .reduce(
        (result, edit) =>
          edit.text.length > result.length ? result : result.replaceAll(edit.text, this.original(edit)),
        text,
      );
  }
}
