/** ISO 8601 text, UTC with milliseconds, of a block's Unix seconds. */
export function isoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
