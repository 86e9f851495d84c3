/** Curves: values by block, in few enough points to draw. */

/** Of each block the last point. */
function lastOfBlocks<T extends { blockNumber: number }>(points: readonly T[]): T[] {
  return points.filter((point, i) => points[i + 1]?.blockNumber !== point.blockNumber);
}

/** At most `limit` of the points, at even distances, with the last one; of a block only its last. */
export function thinned<T extends { blockNumber: number }>(points: readonly T[], limit: number): T[] {
  const ofBlocks = lastOfBlocks(points);
  const count = Math.min(ofBlocks.length, limit);
  // In whole numbers up to the last division: a rounded step may end beyond the last point.
  return Array.from(
    { length: count },
    (_, i) => ofBlocks[Math.ceil(((i + 1) * ofBlocks.length) / count) - 1]!,
  );
}
