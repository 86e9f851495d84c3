/** What a node or a client sent, in messages. */

/** A value, short. Never by its own `toString`, which may be anything, and however deep it is nested. */
export function show(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'missing').slice(0, 80);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 'a value nested too deep to be shown';
  }
}
