/** Tables whose rows become blocks on a narrow screen. */
import { h } from './dom.js';

/**
 * @template R
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: R, index: number) => import('./dom.js').Child} cell
 * @property {boolean} [number] set to the right
 * @property {boolean} [plain] says by itself what it is: on a narrow screen it stands without its title
 */

/**
 * @template R
 * @param {string} caption for those who cannot see where the table stands
 * @param {Column<R>[]} columns
 * @param {readonly R[]} rows
 */
export function table(caption, columns, rows) {
  return h(
    'table',
    { class: 'table' },
    h('caption', { class: 'hidden-text' }, caption),
    h('thead', {}, h('tr', {}, columns.map(heading))),
    h(
      'tbody',
      {},
      rows.map((row, index) => tableRow(columns, row, index)),
    ),
  );
}

/**
 * @template R
 * @param {Column<R>[]} columns
 * @param {R} row
 * @param {number} [index]
 */
export function tableRow(columns, row, index = 0) {
  return h(
    'tr',
    {},
    columns.map(({ title, cell, number, plain }) =>
      h('td', { 'data-title': plain ? null : title, class: number ? 'number' : null }, cell(row, index)),
    ),
  );
}

/** @param {{ title: string, number?: boolean }} column */
function heading({ title, number }) {
  return h('th', { scope: 'col', class: number ? 'number' : null }, title);
}
