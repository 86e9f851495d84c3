/** A copy of a text that is to be kept: as a part of a longer one it would hold all of that in memory. */
export function ownText(text: string): string {
  return Buffer.from(text).toString();
}
