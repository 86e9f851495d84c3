/** What a node or a client sent, in messages. */

/** A value, short. Never by its own `toString`, which may be anything. */
export function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'missing').slice(0, 80);
}
