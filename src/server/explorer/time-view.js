/** A moment as it stands in tables: how long ago, with the exact time to point at. */
import { h } from '../ui/dom.js';
import { ago, dateTime } from '../ui/format.js';

const EVERY_MS = 1000;

/**
 * @param {string} seconds Unix time as nodes give it, in hex
 */
export function isoTime(seconds) {
  return new Date(Number(seconds) * 1000).toISOString();
}

/** @param {string} iso */
export function moment(iso) {
  return h('time', { class: 'nowrap', datetime: iso, title: `${dateTime(iso)} UTC` }, ago(iso));
}

/**
 * Lets the moments in a place grow older.
 * @param {HTMLElement} place
 */
export function ageMoments(place) {
  setInterval(() => {
    if (document.hidden) return;
    for (const time of place.querySelectorAll('time')) {
      const text = ago(time.dateTime);
      if (time.textContent !== text) time.textContent = text;
    }
  }, EVERY_MS);
}
