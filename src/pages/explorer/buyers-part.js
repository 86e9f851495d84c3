/** The first receivers of a token, and how they came. */
import { h } from '../ui/dom.js';
import { dateTime, grouped } from '../ui/format.js';
import { timeTicks } from '../ui/scale.js';
import { stepChart } from '../ui/step-chart.js';
import { table } from '../ui/table.js';
import { blockNumberAnchor, walletAnchor } from './address-view.js';
import { notice } from './section.js';

const LIMIT = 100;
const ROWS = 20;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} token
 * @returns {Promise<import('./section.js').PartContent>}
 */
export async function loadBuyers({ api, signal }, token) {
  /** @type {import('./api.js').Answered<{ buyers: import('./api-types.js').Buyer[] }>} */
  const { data, exchange } = await api.get('token_first_buyers', { token, limit: LIMIT }, signal);
  const { buyers } = data;
  if (buyers.length === 0)
    return { content: notice('The index has no transfers of this token.'), exchanges: [exchange] };
  return {
    content: [
      buyers[0]?.firstSeenAt === buyers.at(-1)?.firstSeenAt ? null : arrivals(buyers),
      buyerTable(buyers.slice(0, ROWS), 0),
      buyers.length <= ROWS
        ? null
        : h(
            'details',
            { class: 'list' },
            h('summary', {}, `The next ${grouped(buyers.length - ROWS)}`),
            buyerTable(buyers.slice(ROWS), ROWS),
          ),
    ],
    exchanges: [exchange],
  };
}

/** @param {import('./api-types.js').Buyer[]} buyers */
function arrivals(buyers) {
  return stepChart({
    name: 'First receivers over time',
    points: buyers.map(({ firstSeenAt, firstSeenBlock }, i) => ({
      x: Date.parse(firstSeenAt),
      y: i + 1,
      text: `Receiver ${i + 1} came ${dateTime(firstSeenAt)} UTC, in block ${grouped(firstSeenBlock)}`,
    })),
    resting: `How the first ${grouped(buyers.length)} receivers appeared over time`,
    xTicks: timeTicks,
    yText: grouped,
    height: 160,
    fromZero: true,
  });
}

/**
 * @param {import('./api-types.js').Buyer[]} buyers
 * @param {number} before how many stand before these
 */
function buyerTable(buyers, before) {
  return table(
    'First receivers',
    [
      { title: 'No.', number: true, cell: (_, i) => grouped(before + i + 1) },
      { title: 'Wallet', plain: true, cell: (row) => walletAnchor(row.address) },
      { title: 'Block', number: true, cell: (row) => blockNumberAnchor(row.firstSeenBlock) },
      {
        title: 'Time, UTC',
        plain: true,
        cell: (row) => h('span', { class: 'nowrap date' }, dateTime(row.firstSeenAt)),
      },
      { title: 'Its transfers', number: true, cell: (row) => grouped(row.transferCount) },
    ],
    buyers,
  );
}
