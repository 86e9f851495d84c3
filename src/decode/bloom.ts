/** Blooms of logs: 2048 bits, of which each address and each topic of a log sets up to three (Yellow Paper, 4.3.1). */

/**
 * What blooms prove of a block's logs. `complete`: each receipt's bloom is that of its logs, and the header's has no
 * other bits. `lacking`: a bloom has bits that no log sets. `unknown`: some receipt with logs has no bloom. `other`:
 * logs set bits that their receipt's bloom does not have, so it is no bloom of logs.
 */
export type LogProof = 'complete' | 'lacking' | 'unknown' | 'other';

/** Characters of a bloom as `0x` text. */
const BLOOM_LENGTH = 514;
const BITS_PER_ITEM = 3;

/** Bits of each hex digit by its character code. */
const BITS = new Uint8Array(128);
for (let digit = 1; digit < 16; digit++) {
  const bits = digit.toString(2).replaceAll('0', '').length;
  for (const text of [digit.toString(16), digit.toString(16).toUpperCase()]) BITS[text.charCodeAt(0)] = bits;
}

/**
 * Whether a bloom proves that there are logs. Some nodes send all zeros or all ones in every bloom, which proves
 * nothing.
 * `true` stands for a bloom with bits (decoded-fields.ts).
 */
export function hasBloomBits(value: unknown): boolean {
  if (typeof value !== 'string') return value === true;
  return value.length === BLOOM_LENGTH && /[1-9a-f]/i.test(value.slice(2)) && /[^f]/i.test(value.slice(2));
}

/** Whether a bloom has more bits than these logs can set: then some of its logs are missing. */
export function exceedsLogs(
  bloom: string,
  logs: readonly { emitter: string; topics: readonly string[] }[],
): boolean {
  let bits = 0;
  for (let i = 2; i < bloom.length; i++) bits += BITS[bloom.charCodeAt(i)] ?? 0;
  const items = new Set(logs.flatMap(({ emitter, topics }) => [emitter, ...topics]));
  return bits > BITS_PER_ITEM * items.size;
}
