/** Where the wallets of one funder stand: around it, in the order in which they were funded. Pure functions. */

/** Largest radius of a wallet, pixels. */
const MAX_DOT = 13;
const MIN_DOT = 5;

/** Wallets that a single ring takes, and a second one besides. */
const ONE_RING = 16;
const TWO_RINGS = 60;

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
    const distance = outer * ((ring + 2) / (rings.length + 1)); // the innermost leaves room for the funder
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
 * How many stand on each ring, from the inside: as many as the ring is long.
 * @param {number} count
 * @returns {number[]}
 */
function ringsOf(count) {
  const rings = count <= ONE_RING ? 1 : count <= TWO_RINGS ? 2 : 3;
  const lengths = Array.from({ length: rings }, (_, ring) => ring + 2);
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  const inner = lengths.slice(0, -1).map((length) => Math.round((count * length) / whole));
  return [...inner, count - inner.reduce((sum, some) => sum + some, 0)];
}

/**
 * The area of a dot tells its amount.
 * @param {number} amount
 * @param {number} largest
 */
function radiusOf(amount, largest) {
  return largest === 0 ? MIN_DOT : MIN_DOT + (MAX_DOT - MIN_DOT) * Math.sqrt(amount / largest);
}
