/** A small picture of an address: two addresses that look alike in letters rarely look alike in colour. */
import { s } from './dom.js';

/**
 * Three stripes whose hues are bytes of the address.
 * @param {string} address
 * @param {number} [size] pixels
 */
export function identicon(address, size = 12) {
  const stripes = [2, 16, 38].map((at, i) => {
    const byte = Number.parseInt(address.slice(at, at + 2), 16) || 0;
    const fill = `hsl(${Math.round((byte / 256) * 360)} 55% ${[46, 60, 74][i]}%)`;
    return s('rect', { x: i * 4, y: 0, width: 4, height: 12, fill });
  });
  return s('svg', { viewBox: '0 0 12 12', width: size, height: size, 'aria-hidden': true }, stripes);
}
