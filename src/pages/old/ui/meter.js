/** A part of a whole as a bar. */
import { s } from './dom.js';

/**
 * @param {number} share 0 to 1
 * @param {string} name what it is of, for those who cannot see it
 */
export function meter(share, name) {
  const width = Math.min(1, Math.max(0, share)) * 100;
  return s(
    'svg',
    {
      class: share >= 1 ? 'meter full' : 'meter',
      viewBox: '0 0 100 6',
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `${name}: ${Math.round(share * 1000) / 10} %`,
    },
    s('rect', { class: 'whole', width: 100, height: 6 }),
    s('rect', { class: 'share', width, height: 6 }),
  );
}
