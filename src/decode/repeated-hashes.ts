/**
 * The places of each hash that several transactions of a block share, as some nodes send it; null if none do. Whatever
 * follows from the hash, such as the place of a transfer in its transaction, takes them as one transaction.
 */
export function repeatedHashes(txHashes: readonly string[]): Map<string, number[]> | null {
  if (new Set(txHashes).size === txHashes.length) return null;
  const places = Map.groupBy(txHashes.keys(), (i) => txHashes[i]!);
  return new Map([...places].filter(([, same]) => same.length > 1));
}
