/** Transfers that arrived while the page was open, above the first page of the others. */
import { announce } from '../ui/announce.js';
import { h, replace } from '../ui/dom.js';
import { countText } from '../ui/format.js';
import { tableRow } from '../ui/table.js';
import { transferColumns } from './transfer-columns.js';

/** Newer ones push older ones out. */
const MAX_ROWS = 50;

/** Pixels at the top of the window that the bar of the page covers. */
const COVERED = 56;

/** How often it is looked whether those held back may come. */
const LOOK_MS = 300;

/**
 * A row that comes pushes the others down, under the pointer too. So rows are held back while the pointer is in the
 * part, the focus in the list, or the beginning of the list out of sight above; a button counts and shows them.
 * @param {string} coin
 * @param {(transfer: import('./api-types.js').Transfer) => boolean} isWanted by the filters of the page
 * @param {() => void} again has the page loaded anew
 */
export function liveRows(coin, isWanted, again) {
  const body = h('tbody', { class: 'live-rows' });
  const columns = transferColumns(coin);
  const button = h('button', { type: 'button', class: 'button compact', onclick: () => show() });
  const waitingBar = h('div', { class: 'waiting', hidden: true }, button);
  const gap = h('tbody');
  const showGap = () => replace(gap, gapRow(columns.length, again));
  /** @typedef {import('./transfer-subscription.js').LiveTransfer} LiveTransfer */
  /** @type {Map<number, { transfer: LiveTransfer, row: HTMLTableRowElement }>} newest last */
  const rows = new Map();
  /** Those held back, newest last. @type {Map<number, LiveTransfer>} */
  const waiting = new Map();
  /** @type {Set<number>} */
  const onPage = new Set();
  /** @type {Map<string, { symbol: string | null, decimals: number | null }>} */
  const tokens = new Map();
  let timer = 0;
  /** What the pages said of a token that the push says nothing of. @param {import('./api-types.js').Transfer} transfer */
  const named = ({ tokenAddress, symbol, decimals }) =>
    (symbol === null && decimals === null && tokens.get(tokenAddress ?? '')) || { symbol, decimals };

  /** @param {LiveTransfer} transfer */
  const add = (transfer) => {
    const { id, removed } = transfer;
    if (removed) return remove(id);
    if (!isWanted(transfer) || rows.has(id) || waiting.has(id) || onPage.has(id)) return;
    waiting.set(id, transfer);
    if (takeSurplus(waiting) !== undefined) showGap();
    look();
  };
  /** A reorganisation took the transfer back; another may get its id. @param {number} id */
  const remove = (id) => {
    onPage.delete(id);
    waiting.delete(id);
    const row = rows.get(id)?.row;
    if (row === undefined) return;
    rows.delete(id);
    row.classList.add('withdrawn');
    row.title = 'Withdrawn: the chain was reorganised';
  };
  const look = () => {
    clearTimeout(timer);
    if (waiting.size === 0 || !isInUse(body)) return release();
    if (waitingBar.hidden) announce('New transfers are held back');
    waitingBar.hidden = false;
    button.textContent = `${countText(waiting.size, 'new transfer')}${waiting.size === MAX_ROWS ? ' or more' : ''}`;
    timer = setTimeout(look, LOOK_MS);
  };
  const release = () => {
    for (const [id, transfer] of waiting) {
      const row = tableRow(columns, { ...transfer, ...named(transfer) });
      rows.set(id, { transfer, row });
      body.prepend(row);
      const surplus = takeSurplus(rows);
      if (surplus === undefined) continue;
      surplus.row.remove();
      showGap();
    }
    waiting.clear();
    waitingBar.hidden = true;
  };
  const show = () => {
    release();
    body.closest('table')?.scrollIntoView();
    body.closest('section')?.focus({ preventScroll: true }); // the button that is hidden loses it
  };
  return {
    body,
    gap,
    waitingBar,
    add,
    /** None of them stands once the next page is there: some may have been taken back while nobody told of it. */
    forget() {
      rows.clear();
      waiting.clear();
    },
    /**
     * A page was loaded: what it holds is not shown twice. What came after the server had read it stays.
     * @param {readonly import('./api-types.js').Transfer[]} page newest first
     */
    reset(page) {
      const newest = page[0]?.id ?? 0;
      for (const [id, { transfer }] of rows) if (id <= newest || !isWanted(transfer)) rows.delete(id);
      for (const [id, transfer] of waiting) if (id <= newest || !isWanted(transfer)) waiting.delete(id);
      onPage.clear();
      for (const { id, tokenAddress, symbol, decimals } of page) {
        onPage.add(id);
        if (tokenAddress !== null) tokens.set(tokenAddress, { symbol, decimals });
      }
      replace(body, ...[...rows.values()].map(({ row }) => row).reverse());
      replace(gap);
      release();
    },
  };
}

/**
 * Whether somebody may be about to click on a row.
 * @param {HTMLElement} rows
 */
function isInUse(rows) {
  const list = rows.closest('table');
  if (list === null) return false;
  const pointed = list.closest('section')?.matches(':hover') ?? false;
  return pointed || list.contains(document.activeElement) || list.getBoundingClientRect().top < COVERED;
}

/**
 * Takes the oldest out of what has become too many.
 * @template T
 * @param {Map<number, T>} kept
 */
function takeSurplus(kept) {
  const [oldest] = kept;
  if (oldest === undefined || kept.size <= MAX_ROWS) return undefined;
  kept.delete(oldest[0]);
  return oldest[1];
}

/**
 * @param {number} columns
 * @param {() => void} again
 */
function gapRow(columns, again) {
  return h(
    'tr',
    {},
    h(
      'td',
      { colspan: columns, class: 'soft' },
      'Others came between these and those below. ',
      h('button', { type: 'button', class: 'button compact', onclick: again }, 'Load anew'),
    ),
  );
}
