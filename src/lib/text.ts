/** Helpers for values and texts in messages. */

/** A short preview of any value. Never calls the value's own `toString`, which may do anything. */
export function previewValue(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'missing').slice(0, 80);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 'a value nested too deep to show';
  }
}

/** Whether to omit colours: NO_COLOR is set (https://no-color.org) or the terminal has none. */
export function isColourless(): boolean {
  return Boolean(process.env.NO_COLOR) || process.env.TERM === 'dumb';
}

/** Copies a text for storage: a slice would keep the whole original in memory. */
export function detachString(text: string): string {
  return Buffer.from(text).toString();
}

/** A host and a port as written in a URL: an IPv6 address in brackets. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether a parsed JSON value is an object: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
