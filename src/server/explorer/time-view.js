/** A moment as it stands in tables: how long ago, with the exact time to point at. */
import { h } from '../ui/dom.js';
import { ago, dateTime } from '../ui/format.js';

/** @param {string} iso */
export function moment(iso) {
  return h('span', { class: 'nowrap', title: `${dateTime(iso)} UTC` }, ago(iso));
}
