/** Showing values from a node or a client in messages. */

/** A short text for a value of any depth. Never calls the value's own `toString`, which may be anything. */
export function previewValue(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'missing').slice(0, 80);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 'a value nested too deep to be shown';
  }
}
