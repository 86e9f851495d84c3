/** Where the wallets of one funder stand: around it, in the order in which they were funded. Pure functions. */

/** Largest radius of a wallet, pixels. */
const MAX_DOT = 13;
const MIN_DOT = 5;

/** Wallets on the first ring; each further ring takes as many more. */
const RING = 16;

/** Room beside the rings for the names of the wallets. */
const NAMES = 118;

/** @typedef {{ x: number, y: number, radius: number, angle: number }} Dot */

/**
 * @param {readonly number[]} amounts of the wallets, in the order of their funding
 * @param {number} width that there is
 * @returns {{ dots: Dot[], center: { x: number, y: number }, height: number, named: boolean }}
 */
export function cohortLayout(amounts, width) {
  const rings = ringsOf(amounts.length);
  const named = rings.length === 1 && width >= 520;
  const outer = Math.max(80, Math.min(200, width / 2 - (named ? NAMES : 0) - MAX_DOT - 2));
  const height = 2 * (outer + MAX_DOT + 4);
  const center = { x: width / 2, y: height / 2 };
  const largest = Math.max(...amounts, 0);
  let at = 0;
  const dots = rings.flatMap((count, ring) => {
    const distance = outer * ((ring + 2) / (rings.length + 1));
    return Array.from({ length: count }, (_, i) => {
      const angle = (2 * Math.PI * i) / count - Math.PI / 2 + (ring % 2) * (Math.PI / count);
      return {
        x: center.x + Math.cos(angle) * distance,
        y: center.y + Math.sin(angle) * distance,
        radius: radiusOf(amounts[at++] ?? 0, largest),
        angle,
      };
    });
  });
  return { dots, center, height, named };
}

/**
 * How many stand on each ring, from the inside.
 * @param {number} count
 */
function ringsOf(count) {
  const rings = [];
  for (let left = count, room = RING; left > 0; left -= room, room += RING) rings.push(Math.min(left, room));
  return rings;
}

/**
 * The area of a dot tells its amount.
 * @param {number} amount
 * @param {number} largest
 */
function radiusOf(amount, largest) {
  return largest === 0 ? MIN_DOT : MIN_DOT + (MAX_DOT - MIN_DOT) * Math.sqrt(amount / largest);
}
