/** The settings in force and where each comes from. */
import { h } from '../ui/dom.js';
import { table } from '../ui/table.js';
import { callAdminApi } from './admin-api.js';
import { polledView } from './polled-view.js';

/** They change only when the server is started anew or told to read them again. */
const POLL_MS = 5000;

/**
 * @param {import('./main.js').ViewContext} view
 */
export function configView(view) {
  return polledView(POLL_MS, view, async () => {
    /** @type {import('./api-types.js').Config} */
    const { settings } = await callAdminApi('GET', 'config');
    return [configPart(settings)];
  });
}

/** @param {import('./api-types.js').Config['settings']} settings */
function configPart(settings) {
  const rows = Object.entries(settings).map(([path, { value, source }]) => ({ path, value, source }));
  const set = rows.filter(({ source }) => source !== 'default');
  return h(
    'section',
    { class: 'part' },
    h(
      'header',
      {},
      h('h1', {}, 'Settings'),
      h(
        'p',
        { class: 'soft small' },
        'In force now: flags over environment over file over defaults. Secrets are masked.',
      ),
    ),
    h('h2', {}, 'Set'),
    set.length === 0
      ? h('p', { class: 'notice' }, 'All settings have their defaults.')
      : settingTable('Settings that were set', set),
    h('h2', {}, 'By default'),
    settingTable(
      'Settings by default',
      rows.filter(({ source }) => source === 'default'),
    ),
  );
}

/** @typedef {{ path: string, value: unknown, source: string }} Setting */

/** @type {import('../ui/table.js').Column<Setting>[]} */
const COLUMNS = [
  { title: 'Setting', plain: true, cell: ({ path }) => h('code', {}, path) },
  { title: 'Value', plain: true, cell: ({ value }) => h('code', { class: 'value' }, valueText(value)) },
];

/** @type {import('../ui/table.js').Column<Setting>} */
const SOURCE_COLUMN = {
  title: 'From',
  plain: true,
  cell: ({ source }) => h('span', { class: 'soft' }, source),
};

/**
 * @param {string} caption
 * @param {Setting[]} rows
 */
function settingTable(caption, rows) {
  const withSource = rows.some(({ source }) => source !== 'default');
  return table(caption, withSource ? [...COLUMNS, SOURCE_COLUMN] : COLUMNS, rows);
}

/** @param {unknown} value */
function valueText(value) {
  return value === '' ? '(empty)' : typeof value === 'string' ? value : JSON.stringify(value);
}
