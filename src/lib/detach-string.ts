/** A copy of a text that will be kept: a slice would keep the whole longer text in memory. */
export function detachString(text: string): string {
  return Buffer.from(text).toString();
}
