/** The chart of a wallet's balance, from as many of its transfers as the visitor wants to load. */
import { h, replace } from '../ui/dom.js';
import {
  compactNumber,
  countText,
  dateTime,
  grouped,
  groupedText,
  isolated,
  safeName,
  shortHex,
  unitsToText,
} from '../ui/format.js';
import { keepFocus } from '../ui/keep-focus.js';
import { timeTicks } from '../ui/scale.js';
import { stepChart } from '../ui/step-chart.js';
import { assetsOf, flowPoints, sumOf } from './flows.js';
import { notice } from './section.js';
import { visitorMessage } from './visitor-message.js';

const PAGE = 500;

/** Assets that can be chosen. */
const MAX_ASSETS = 20;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} address
 * @param {import('./summary-part.js').AskSummary} askSummary
 * @returns {(signal: AbortSignal) => Promise<import('./section.js').PartContent>}
 */
export function flowsLoader(view, address, askSummary) {
  /** @type {import('./api-types.js').Transfer[]} */
  const transfers = [];
  /** @type {number | null} */
  let cursor = null;
  let complete = false;
  let chosen = 'native';

  /** @type {string | null} */
  let block = null;

  /** @param {AbortSignal} signal */
  const loadPage = async (signal) => {
    /** @type {import('./api.js').Answered<import('./api-types.js').TransferPage>} */
    const { data, exchange } = await view.api.get(
      'address_transfers',
      { address, limit: PAGE, include_internal: 'true', before_block: block, cursor },
      signal,
    );
    transfers.push(...data.transfers);
    cursor = data.nextCursor;
    complete = cursor === null;
    return exchange;
  };

  return async (signal) => {
    const summary = await askSummary();
    block = summary.exchange.block; // the balance is reckoned back from the one of then
    const exchanges = [summary.exchange, await loadPage(signal)];
    if (transfers.length === 0) return { content: notice('There is nothing to draw yet.'), exchanges };

    const present = BigInt(summary.data.nativeReceivedWei) - BigInt(summary.data.nativeSentWei);
    const chart = h('div');
    const controls = h('div', { class: 'controls' });
    const draw = () => {
      const assets = assetsOf(transfers, view.coin, assetName).slice(0, MAX_ASSETS);
      keepFocus(controls, () => replace(controls, assetChoice(assets, chosen, choose), olderButton()));
      replace(chart, flowChart(assets.find(({ id }) => id === chosen) ?? assets[0]));
    };
    /** @param {string} id */
    const choose = (id) => {
      chosen = id;
      draw();
    };
    /** @param {import('./flows.js').Asset | undefined} asset */
    const flowChart = (asset) => {
      if (asset === undefined) return null;
      // The present balance of a token is known only once all of its transfers are; until then its course begins at 0.
      const now = asset.id === 'native' ? present : sumOf(transfers, asset.id, address);
      const relative = asset.id !== 'native' && !complete;
      return balanceChart(flowPoints(transfers, asset.id, address, now), asset, relative);
    };
    const olderButton = () => {
      const count = countText(transfers.length, 'transfer');
      if (complete) {
        const all = transfers.length === 1 ? 'its one transfer is drawn' : `all ${count} are drawn`;
        return h('span', { class: 'soft small' }, all);
      }
      const state = h('span', { class: 'soft small', role: 'status' }, `the newest ${count} are drawn`);
      const button = h('button', { type: 'button', class: 'button compact' }, 'Load older ones');
      button.addEventListener('click', async () => {
        if (button.ariaDisabled === 'true') return;
        button.ariaDisabled = 'true'; // one that is disabled loses the focus
        await loadPage(view.signal).then(draw, (error) => {
          button.ariaDisabled = null;
          state.textContent = visitorMessage(error);
        });
      });
      return [state, button];
    };
    draw();
    return { content: [controls, chart], exchanges };
  };
}

/**
 * @param {string} address
 * @param {string | null} symbol
 */
function assetName(address, symbol) {
  const name = safeName(symbol ?? '');
  return name === '' ? shortHex(address) : `${isolated(name)} (${shortHex(address)})`;
}

/**
 * @param {import('./flows.js').Asset[]} assets
 * @param {string} chosen
 * @param {(id: string) => void} onChoice
 */
function assetChoice(assets, chosen, onChoice) {
  const select = h(
    'select',
    { 'aria-label': 'Asset', onchange: () => onChoice(select.value) },
    assets.map(({ id, name, count }) =>
      h('option', { value: id }, `${name}, ${countText(count, 'transfer')}`),
    ),
  );
  select.value = chosen;
  return select;
}

/**
 * @param {import('./flows.js').FlowPoint[]} points
 * @param {import('./flows.js').Asset} asset
 * @param {boolean} relative
 */
function balanceChart(points, { name, decimals }, relative) {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined)
    return notice(`No transfer of ${name} is among those loaded.`);
  /** @param {bigint} units */
  const text = (units) => groupedText(unitsToText(units, decimals));
  /**
   * More may have been sent than received where the index begins late or the chain gave without a transfer.
   * @param {bigint} balance
   */
  const left = (balance) =>
    balance < 0n
      ? `${text(-balance)} ${name} more sent than received`
      : `${text(balance)} ${name} received and not sent on`;
  if (first.at === last.at)
    return notice(
      `All of it happened at ${dateTime(new Date(last.at).toISOString())} UTC: ${left(last.balance)}.`,
    );
  const drawn = points.map(({ at, block, balance, change }) => ({
    x: at,
    y: Number(balance) / 10 ** decimals,
    text: `${dateTime(new Date(at).toISOString())} UTC, block ${grouped(block)}: ${change < 0n ? '' : '+'}${text(change)}, then ${text(balance)} ${name}`,
  }));
  const before = first.balance - first.change;
  return stepChart({
    name: `Balance of ${name} over time`,
    points: [
      { x: first.at, y: Number(before) / 10 ** decimals, text: `Before: ${text(before)} ${name}` },
      ...drawn,
    ],
    resting: relative
      ? `${text(last.balance)} ${name} more or less than before the oldest transfer drawn`
      : `${left(last.balance)}; fees are not counted`,
    xTicks: timeTicks,
    yText: compactNumber,
  });
}
