/** The newest transfers of a token, asked of the node through /rpc. */
import { barChart } from '../ui/bar-chart.js';
import { h } from '../ui/dom.js';
import { countText, grouped } from '../ui/format.js';
import { wholeTicks } from '../ui/scale.js';
import { table } from '../ui/table.js';
import { blockNumberAnchor, transactionAnchor, walletAnchor } from './address-view.js';
import { tokenAmount } from './amount-view.js';
import { notice } from './section.js';
import { countByBlock, decodeTransferLog, TRANSFER_TOPICS } from './token-logs.js';

/** Any node answers for so many blocks. */
const BLOCKS = 100;
const ROWS = 20;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} token
 * @param {import('./token-facts-part.js').AskStats} askStats
 * @returns {Promise<import('./section.js').PartContent>}
 */
export async function loadActivity({ api, signal }, token, askStats) {
  /** @type {[import('./api.js').Answered<string>, Awaited<ReturnType<typeof askStats>>]} */
  const [head, stats] = await Promise.all([api.rpc('eth_blockNumber', [], signal), askStats()]);
  const to = Number(head.data);
  const from = Math.max(0, to - BLOCKS + 1);
  /** @type {import('./api.js').Answered<import('./api-types.js').Log[]>} */
  const { data, exchange } = await api.rpc(
    'eth_getLogs',
    [
      {
        address: token,
        fromBlock: `0x${from.toString(16)}`,
        toBlock: `0x${to.toString(16)}`,
        topics: [TRANSFER_TOPICS],
      },
    ],
    signal,
  );
  const exchanges = [exchange];
  const events = data.map(decodeTransferLog).filter((event) => event !== null);
  if (events.length === 0)
    return {
      content: notice(`Nobody moved it in the last ${countText(to - from + 1, 'block')}.`),
      exchanges,
    };
  const { decimals } = stats.data;
  return {
    content: [
      chart(countByBlock(events, from, to), events.length),
      table(
        'Newest transfers',
        [
          { title: 'From', plain: true, cell: (row) => walletAnchor(row.from) },
          { title: 'To', plain: true, cell: (row) => ['→ ', walletAnchor(row.to)] },
          { title: 'Amount', number: true, cell: (row) => tokenAmount(row, decimals) },
          { title: 'Block', number: true, cell: (row) => blockNumberAnchor(row.block) },
          { title: 'Transaction', plain: true, cell: (row) => transactionAnchor(row.txHash) },
        ],
        events.reverse().slice(0, ROWS),
      ),
      events.length > ROWS
        ? h('p', { class: 'soft small after' }, `The newest ${ROWS} of ${grouped(events.length)}.`)
        : null,
    ],
    exchanges,
  };
}

/**
 * @param {{ block: number, count: number }[]} bars
 * @param {number} total
 */
function chart(bars, total) {
  return barChart({
    name: 'Transfers by block',
    bars: bars.map(({ block, count }) => ({
      x: block,
      y: count,
      text: `Block ${grouped(block)}: ${grouped(count)}`,
    })),
    step: 1,
    resting: `${countText(total, 'transfer')} in the last ${countText(bars.length, 'block')}`,
    xTicks: wholeTicks,
    yText: grouped,
    height: 150,
  });
}
