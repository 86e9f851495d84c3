/** A wallet's transfers in pages, with those that happen meanwhile. The page's address holds what is shown. */

import { ApiError } from '../ui/api-error.js';
import { h } from '../ui/dom.js';
import { radioGroup } from '../ui/radio-group.js';
import { table } from '../ui/table.js';
import { liveRows } from './live-rows.js';
import { sectionLink } from './route.js';
import { notice } from './section.js';
import { transferColumns } from './transfer-columns.js';
import { subscribeToTransfers } from './transfer-subscription.js';

const LIMIT = 25;

const STATE_TEXTS = {
  connecting: 'Live: connecting …',
  live: 'Live: new transfers appear by themselves',
  lost: 'Live: interrupted',
  unavailable: 'Live: not available',
};

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} address
 * @param {() => URLSearchParams} settings the present settings of the page's address
 * @param {() => void} again has the part loaded anew
 * @returns {(signal: AbortSignal) => Promise<import('./section.js').PartContent>}
 */
export function transfersLoader(view, address, settings, again) {
  /** @param {import('./api-types.js').Transfer} transfer */
  const isWanted = (transfer) => {
    const { direction, internal, cursor } = parseSettings(settings());
    if (cursor !== null || (transfer.transferType === 'native_internal' && !internal)) return false;
    return direction === 'both' || direction === transfer.direction;
  };
  const rows = liveRows(view.coin, isWanted, again);
  const state = h('p', { class: 'live-state small', role: 'status' });
  let watching = false;
  let broken = false;
  /** @param {number} fromBlock */
  const watch = (fromBlock) => {
    if (watching) return;
    watching = true;
    subscribeToTransfers(view.key, address, fromBlock, view.signal, {
      onTransfer: rows.add,
      onState(name, reason) {
        state.dataset['state'] = name;
        state.textContent = `${STATE_TEXTS[name]}${reason === '' ? '' : `. ${reason}`}`;
        if (name === 'lost' || name === 'unavailable') checkKey(view);
        if (name === 'lost') broken = true;
        if (name !== 'live' || !broken) return;
        broken = false;
        rows.forget();
        again();
      },
    });
  };

  return async (signal) => {
    const { direction, internal, cursor } = parseSettings(settings());
    /** @type {import('./api.js').Answered<import('./api-types.js').TransferPage>} */
    const { data, exchange } = await view.api.get(
      'address_transfers',
      { address, limit: LIMIT, direction, include_internal: internal ? 'true' : null, cursor },
      signal,
    );
    rows.reset(data.transfers);
    watch(Number(exchange.block) + 1);
    return {
      content: [
        filters(address, direction, internal, state),
        rows.waitingBar,
        page(data, [rows.body, rows.gap], view.coin, cursor),
        pages(address, data, { direction, internal, cursor }),
      ],
      exchanges: [exchange],
    };
  };
}

/**
 * The browser does not tell of a refused socket whether it was for the key; the API does.
 * @param {import('./section.js').ViewContext} view
 */
function checkKey({ api, signal, onRefusedKey }) {
  api.rpc('eth_chainId', [], signal).catch((error) => {
    if (error instanceof ApiError && error.code === 'unauthorized') onRefusedKey(error);
  });
}

/**
 * @param {URLSearchParams} settings
 * @returns {{ direction: string, internal: boolean, cursor: string | null }}
 */
function parseSettings(settings) {
  return {
    direction: settings.get('direction') ?? 'both',
    internal: settings.get('internal') === 'true',
    cursor: settings.get('cursor'),
  };
}

/**
 * @param {string} address
 * @param {string} direction
 * @param {boolean} internal
 * @param {HTMLElement} state
 */
function filters(address, direction, internal, state) {
  /**
   * @param {string} way
   * @param {boolean} withInternal
   */
  const go = (way, withInternal) => {
    location.hash = link(address, { direction: way, internal: withInternal, cursor: null });
  };
  const box = h('input', { type: 'checkbox', onchange: () => go(direction, box.checked) });
  box.checked = internal;
  return h(
    'div',
    { class: 'controls' },
    radioGroup('Direction', { both: 'Both', in: 'In', out: 'Out' }, direction, (way) => go(way, internal)),
    h('label', { class: 'check small' }, box, ' with internal ones'),
    state,
  );
}

/**
 * @param {import('./api-types.js').TransferPage} data
 * @param {HTMLElement[]} live
 * @param {string} coin
 * @param {string | null} cursor
 */
function page({ transfers }, live, coin, cursor) {
  const list = table('Transfers', transferColumns(coin), transfers);
  list.tHead?.after(...live);
  if (transfers.length > 0) return list;
  return [
    list,
    notice(
      cursor === null ? 'No transfers match this filter.' : 'There are no older transfers in the index.',
    ),
  ];
}

/**
 * @param {string} address
 * @param {import('./api-types.js').TransferPage} data
 * @param {{ direction: string, internal: boolean, cursor: string | null }} shown
 */
function pages(address, { nextCursor }, shown) {
  const older = nextCursor === null ? null : link(address, { ...shown, cursor: String(nextCursor) });
  const newest = shown.cursor === null ? null : link(address, { ...shown, cursor: null });
  if (older === null && newest === null) return null;
  return h(
    'nav',
    { class: 'controls pages', 'aria-label': 'Pages of transfers' },
    newest === null ? null : h('a', { class: 'button compact', href: newest }, 'Newest'),
    older === null ? h('span', { class: 'soft small' }, 'These are the oldest.') : null,
    older === null ? null : h('a', { class: 'button compact', href: older }, 'Older'),
  );
}

/**
 * @param {string} address
 * @param {{ direction: string, internal: boolean, cursor: string | null }} settings
 */
function link(address, { direction, internal, cursor }) {
  return sectionLink(address, 'transfers', {
    direction: direction === 'both' ? null : direction,
    internal: internal ? 'true' : null,
    cursor,
  });
}
