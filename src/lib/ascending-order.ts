/** Sorts many whole numbers by position. In a large commit, a comparator would take most of the sorting time. */

const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;

/** Up to this many keys, a comparator is faster. */
const FEW = 256;

/**
 * Sorts the positions of all keys by ascending key; keys are non-negative whole numbers. Stable: positions of equal
 * keys keep their sequence in `order`, by default ascending. Overwrites `order`.
 */
export function ascendingOrder(keys: Float64Array, order = allPositions(keys.length)): Uint32Array {
  if (order.length <= FEW) return order.sort((a, b) => keys[a]! - keys[b]!);
  let highest = 0;
  for (const key of keys) highest = Math.max(highest, key);
  let from: Uint32Array = order;
  let to: Uint32Array = new Uint32Array(order.length);
  for (let scale = 1; scale <= highest; scale *= DIGITS) {
    sortByDigit(keys, scale, from, to);
    [from, to] = [to, from];
  }
  return from;
}

function allPositions(count: number): Uint32Array {
  const positions = new Uint32Array(count);
  for (let i = 0; i < count; i++) positions[i] = i;
  return positions;
}

/** Counting sort by one digit of the keys. */
function sortByDigit(keys: Float64Array, scale: number, from: Uint32Array, to: Uint32Array): void {
  const ends = new Uint32Array(DIGITS);
  const toDigit = 1 / scale; // a power of two, so the product is exact; `&` drops the fraction and the higher digits
  for (let i = 0; i < keys.length; i++) ends[(keys[i]! * toDigit) & (DIGITS - 1)]!++;
  for (let digit = 0, end = 0; digit < DIGITS; digit++) {
    const count = ends[digit]!;
    ends[digit] = end;
    end += count;
  }
  for (let i = 0; i < from.length; i++) {
    const position = from[i]!;
    to[ends[(keys[position]! * toDigit) & (DIGITS - 1)]!++] = position;
  }
}
