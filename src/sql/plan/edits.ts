/** Replacements of parts of a query. */

interface Edit {
  start: number;
  end: number;
  text: string;
}

export class Edits {
  private readonly source: string;
  private readonly edits: Edit[];
  private readonly sources: readonly Edit[];

  /** `literals` are replacements that do not overlap with any other. */
  constructor(source: string, literals: readonly Edit[]) {
    this.source = source;
    this.sources = literals;
    this.edits = [...literals];
  }

  replace(start: number, end: number, text: string): void {
    this.edits.push({ start, end, text });
  }

  remove(start: number, end: number): void {
    // What stands in the removed part is not replaced.
    for (let i = this.edits.length - 1; i >= 0; i--) {
      const edit = this.edits[i]!;
      if (edit.start >= start && edit.end <= end) this.edits.splice(i, 1);
    }
    this.edits.push({ start, end, text: '' });
  }

  original({ start, end }: { start: number; end: number }): string {
    return this.source.slice(start, end);
  }

  /** A part of the query with its replacements. */
  text(start = 0, end = this.source.length): string {
    const within = this.edits
      .filter((edit) => edit.start >= start && edit.end <= end)
      .sort((a, b) => a.start - b.start);
    const parts: string[] = [];
    let at = start;
    for (const edit of within) {
      parts.push(this.source.slice(at, edit.start), edit.text);
      at = edit.end;
    }
    parts.push(this.source.slice(at, end));
    return parts.join('');
  }

  /** Puts the original parts back into a text of SQLite, longest replacement first. */
  restore(text: string): string {
    if (!text.includes('#') && this.sources.length === 0) return text;
    const edits = this.edits.filter((edit) => edit.text !== '');
    return edits
      .sort((a, b) => b.text.length - a.text.length)
      .reduce((result, edit) => result.replaceAll(edit.text, this.original(edit)), text);
  }
}
