/** A time as it stands in tables: how long ago, with the exact time to point at. */
import { h } from '../ui/dom.js';
import { ago, dateTime } from '../ui/format.js';

const REFRESH_MS = 1000;

/**
 * @param {string} seconds Unix time as nodes give it, in hex
 */
export function isoTime(seconds) {
  return new Date(Number(seconds) * 1000).toISOString();
}

/** @param {string} iso */
export function timeAgo(iso) {
  return h('time', { class: 'nowrap', datetime: iso, title: `${dateTime(iso)} UTC` }, ago(iso));
}

/**
 * Keeps the times in a place true to the clock.
 * @param {HTMLElement} place
 */
export function refreshTimes(place) {
  setInterval(() => {
    if (document.hidden) return;
    for (const time of place.querySelectorAll('time')) {
      const text = ago(time.dateTime);
      if (time.textContent !== text) time.textContent = text;
    }
  }, REFRESH_MS);
}
