/**
 * What is read out without the focus moving: one polite region for
 * the page, and one in a dialog, outside of which nothing is read.
 */
import { frontmost, h } from './dom.js';

/** A region that came just now is not read from yet. */
const SETTLE_MS = 100;

const KEPT_MS = 5000;

/** @param {string} text */
export function announce(text) {
  const region = regionIn(frontmost());
  const message = h('p', {}, text);
  setTimeout(() => region.append(message), SETTLE_MS);
  setTimeout(() => message.remove(), KEPT_MS);
}

/** @param {Element} place */
function regionIn(place) {
  const known = place.querySelector(':scope > .announcements');
  if (known !== null) return known;
  // Not atomic: what comes while another text is still there is read alone.
  const region = h('div', { class: 'announcements hidden-text', role: 'status', 'aria-atomic': 'false' });
  place.append(region);
  return region;
}
