/** Transfers that arrived while the page was open, above the first page of the others. */
import { h, replace } from '../ui/dom.js';
import { tableRow } from '../ui/table.js';
import { transferColumns } from './transfer-columns.js';

/** Newer ones push older ones out; the pages have them all. */
const MAX_ROWS = 50;

/**
 * @param {string} coin
 * @param {(transfer: import('./api-types.js').Transfer) => boolean} isWanted by the filters of the page
 */
export function liveRows(coin, isWanted) {
  const body = h('tbody', { class: 'live-rows' });
  const columns = transferColumns(coin);
  /** @typedef {import('./transfer-subscription.js').LiveTransfer} LiveTransfer */
  /** @type {Map<number, { transfer: LiveTransfer, row: HTMLTableRowElement }>} newest last */
  const rows = new Map();
  /** @type {Set<number>} */
  const onPage = new Set();
  /** @type {Map<string, { symbol: string | null, decimals: number | null }>} */
  const tokens = new Map();
  /** What the pages said of a token that the push says nothing of. @param {import('./api-types.js').Transfer} transfer */
  const named = ({ tokenAddress, symbol, decimals }) =>
    (symbol === '' && decimals === null && tokens.get(tokenAddress ?? '')) || { symbol, decimals };

  /** @param {LiveTransfer} transfer */
  const add = (transfer) => {
    if (transfer.removed) return remove(transfer.id);
    if (!isWanted(transfer) || rows.has(transfer.id) || onPage.has(transfer.id)) return;
    const row = tableRow(columns, { ...transfer, ...named(transfer) });
    rows.set(transfer.id, { transfer, row });
    body.prepend(row);
    const oldest = rows.keys().next().value;
    if (rows.size > MAX_ROWS && oldest !== undefined) {
      rows.get(oldest)?.row.remove();
      rows.delete(oldest);
    }
  };
  /** A reorganisation took the transfer back; another may get its id. @param {number} id */
  const remove = (id) => {
    onPage.delete(id);
    const row = rows.get(id)?.row;
    if (row === undefined) return;
    rows.delete(id);
    row.classList.add('withdrawn');
    row.title = 'Withdrawn: the chain was reorganised';
  };
  return {
    body,
    add,
    /** None of them stands once the next page is there: some may have been taken back while nobody told of it. */
    forget() {
      rows.clear();
    },
    /**
     * A page was loaded: what it holds is not shown twice. What came after the server had read it stays.
     * @param {readonly import('./api-types.js').Transfer[]} page newest first
     */
    reset(page) {
      const newest = page[0]?.id ?? 0;
      for (const [id, { transfer }] of rows) if (id <= newest || !isWanted(transfer)) rows.delete(id);
      onPage.clear();
      for (const { id, tokenAddress, symbol, decimals } of page) {
        onPage.add(id);
        if (tokenAddress !== null) tokens.set(tokenAddress, { symbol, decimals });
      }
      replace(body, ...[...rows.values()].map(({ row }) => row).reverse());
    },
  };
}
