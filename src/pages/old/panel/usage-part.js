/** The course of requests, of all keys or of one. */

import { h, replace } from '../ui/dom.js';
import { grouped, NAME_CHARS, safeName } from '../ui/format.js';
import { keepFocus } from '../ui/keep-focus.js';
import { radioGroup } from '../ui/radio-group.js';
import { table } from '../ui/table.js';
import { callAdminApi } from './admin-api.js';
import { usageChart } from './usage-chart.js';

const SPANS = { 1: '24 hours', 7: '7 days', 31: '31 days' };

/**
 * @param {(error: unknown) => void} onFailure
 */
export function usagePart(onFailure) {
  let days = 1;
  /** @type {import('./api-types.js').Key | null} */
  let key = null;
  let shown = '';
  let latest = 0;
  const title = h('h2', { id: 'usage-title', tabindex: -1 }, 'Requests');
  const all = h(
    'button',
    { type: 'button', class: 'button compact', hidden: true, onclick: () => show(null) },
    'All keys',
  );
  const chart = h('div');
  const months = h('div', { class: 'months' });
  const element = h(
    'section',
    { class: 'part', 'aria-labelledby': 'usage-title', tabindex: -1 },
    h(
      'header',
      {},
      title,
      radioGroup('Time span', SPANS, String(days), (value) => {
        days = Number(value);
        void refresh();
      }),
      all,
    ),
    chart,
    months,
  );

  /** @param {import('./api-types.js').Key | null} next */
  const show = (next) => {
    key = next;
    if (next === null) title.focus(); // the button that is hidden loses it
    title.textContent = next === null ? 'Requests' : `Requests of ${safeName(next.name, NAME_CHARS)}`;
    all.hidden = next === null;
    void refresh();
    if (next !== null) element.scrollIntoView({ block: 'nearest' });
  };

  /** A chart is drawn anew only when it would look another, so that a point that is picked stays so. */
  const refresh = async () => {
    const request = ++latest;
    try {
      /** @type {import('./api-types.js').Usage} */
      const usage = await callAdminApi('GET', `usage?days=${days}${key === null ? '' : `&key=${key.id}`}`);
      if (request !== latest) return; // a later one is on its way, perhaps for another key or span
      const fingerprint = JSON.stringify([usage, days, key?.id]);
      if (fingerprint === shown) return;
      shown = fingerprint;
      const whose = key === null ? 'all keys' : safeName(key.name, NAME_CHARS);
      keepFocus(chart, () => replace(chart, usageChart(usage, days, whose)));
      replace(months, usage.months.length === 0 ? null : monthTable(usage.months));
    } catch (error) {
      onFailure(error);
    }
  };
  return { element, show, refresh };
}

/** @param {{ month: string, requests: number }[]} months newest first */
function monthTable(months) {
  return h(
    'details',
    {},
    h('summary', {}, 'By month'),
    table(
      'Requests by month',
      [
        { title: 'Month, UTC', plain: true, cell: ({ month }) => month },
        { title: 'Requests', number: true, cell: ({ requests }) => grouped(requests) },
      ],
      months,
    ),
  );
}
