/** The largest holders of a token and how much they have together. */
import { h } from '../ui/dom.js';
import { grouped, unitsToText } from '../ui/format.js';
import { meter } from '../ui/meter.js';
import { wholeTicks } from '../ui/scale.js';
import { stepChart } from '../ui/step-chart.js';
import { table } from '../ui/table.js';
import { walletAnchor } from './address-view.js';
import { shortAmount } from './amount-view.js';
import { percent, sharesOf } from './holder-shares.js';
import { notice } from './section.js';

const LIMIT = 100;
/** Rows that stand in the table at first. */
const ROWS = 20;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} token
 * @param {import('./token-facts-part.js').AskStats} askStats
 * @returns {Promise<import('./section.js').PartContent>}
 */
export async function loadHolders({ api, signal }, token, askStats) {
  const [{ data, exchange }, stats] = await Promise.all([
    /** @type {Promise<import('./api.js').Answered<{ holders: import('./api-types.js').Holder[] }>>} */ (
      api.get('token_holders', { token, limit: LIMIT }, signal)
    ),
    askStats(),
  ]);
  const shares = sharesOf(data.holders);
  if (shares.length === 0)
    return { content: notice('By the transfers in the index, nobody holds it.'), exchanges: [exchange] };
  return {
    content: [
      h('p', { class: 'lead' }, sentence(shares, stats.data.holderCount)),
      shares.length < 3 ? null : curve(shares),
      holderTable(shares.slice(0, ROWS), stats.data.decimals),
      shares.length <= ROWS
        ? null
        : h(
            'details',
            { class: 'list' },
            h('summary', {}, `The next ${grouped(shares.length - ROWS)}`),
            holderTable(shares.slice(ROWS), stats.data.decimals),
          ),
    ],
    exchanges: [exchange],
  };
}

/**
 * @param {import('./holder-shares.js').Share[]} shares
 * @param {number} holders
 */
function sentence(shares, holders) {
  const of = holders > shares.length ? `what the ${grouped(shares.length)} largest have` : 'all there is';
  const largest = `The largest holder has ${percent(shares[0]?.share ?? 0)} of ${of}`;
  if (shares.length <= 10) return `${largest}.`;
  return `${largest}, the ten largest ${percent(shares[9]?.cumulativeShare ?? 0)}.`;
}

/** @param {import('./holder-shares.js').Share[]} shares */
function curve(shares) {
  return stepChart({
    name: 'Share of the largest holders together',
    points: shares.map(({ cumulativeShare }, i) => ({
      x: i,
      y: cumulativeShare * 100,
      text:
        i === 0
          ? `The largest has ${percent(cumulativeShare)}`
          : `The ${i + 1} largest have ${percent(cumulativeShare)} together`,
    })),
    until: shares.length,
    resting: 'How much the largest holders have together, from the first on',
    xTicks: wholeTicks,
    yText: (value) => `${value} %`,
    height: 180,
    fromZero: true,
  });
}

/**
 * @param {import('./holder-shares.js').Share[]} shares
 * @param {number | null} decimals
 */
function holderTable(shares, decimals) {
  return table(
    'Holders',
    [
      { title: 'Holder', plain: true, cell: (row) => walletAnchor(row.address) },
      {
        title: decimals === null ? 'Balance, units' : 'Balance',
        number: true,
        cell: ({ balance }) =>
          h('span', { title: `${balance} units` }, shortAmount(unitsToText(balance, decimals ?? 0))),
      },
      { title: 'Share', number: true, cell: (row) => percent(row.share) },
      { title: '', plain: true, cell: (row) => h('span', { class: 'bar-cell' }, meter(row.share, 'Share')) },
    ],
    shares,
  );
}
