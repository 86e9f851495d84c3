/** A funding chain as a drawing to click through: the oldest known funder first, the wallet last. */

import { h, replace, s } from '../ui/dom.js';
import { ago, compactNumber, grouped, groupedText, shortHex } from '../ui/format.js';
import { identicon } from '../ui/identicon.js';
import { redrawOnResize } from '../ui/redraw-on-resize.js';
import { chainLayout, NODE } from './chain-layout.js';
import { walletLink } from './route.js';

/** Space around the drawing for the outline of a focused node. */
const EDGE = 4;
const ARROW = 7;

/** Characters for which there is room between two nodes. */
const LONGEST_AMOUNT = 12;

/**
 * @param {readonly import('./api-types.js').Hop[]} hops from the wallet backwards, one at least
 * @param {string} coin
 */
export function chainGraph(hops, coin) {
  const backwards = [...hops].reverse();
  const wallets = [...backwards.map(({ funder }) => funder), hops[0]?.funded ?? ''];
  const svg = s('svg', { role: 'group', 'aria-label': 'Funding chain' });
  const box = h('div', { class: 'graph' }, svg);

  /** @param {number} room */
  const draw = (room) => {
    const { places, lines, width, height } = chainLayout(wallets.length, room - 2 * EDGE);
    svg.setAttribute('viewBox', `${-EDGE} ${-EDGE} ${width + 2 * EDGE} ${height + 2 * EDGE}`);
    svg.setAttribute('width', String(width + 2 * EDGE));
    svg.setAttribute('height', String(height + 2 * EDGE));
    replace(
      svg,
      lines.map((line, i) => edge(line, backwards[i], coin)),
      places.map((place, i) => node(place, wallets[i] ?? '', wallets.length - 1 - i)),
    );
  };
  redrawOnResize(box, draw);
  return box;
}

/**
 * @param {import('./chain-layout.js').Place} place
 * @param {string} address
 * @param {number} hop 0 for the wallet itself
 */
function node({ x, y }, address, hop) {
  const role = hop === 0 ? 'this wallet' : hop === 1 ? 'its funder' : `${hop} hops back`;
  const inside = s(
    'g',
    { transform: `translate(${x} ${y})` },
    s('rect', { class: 'frame', width: NODE.width, height: NODE.height, rx: 6 }),
    s('g', { transform: 'translate(12 13)' }, identicon(address, 14)),
    s('text', { x: 34, y: 25, class: 'name' }, shortHex(address)),
    s('text', { x: 12, y: 46 }, role),
  );
  if (hop === 0) return s('g', { class: 'node here', 'aria-label': `${address}, ${role}` }, inside);
  return s(
    'a',
    { class: 'node', href: walletLink(address), 'aria-label': `${address}, ${role}` },
    s('title', {}, address),
    inside,
  );
}

/**
 * @param {import('./chain-layout.js').Line} line
 * @param {import('./api-types.js').Hop | undefined} hop
 * @param {string} coin
 */
function edge({ x1, y1, x2, y2, upright }, hop, coin) {
  if (hop === undefined) return s('g');
  const middle = { x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
  const exact = groupedText(hop.amount, 2);
  const amount = `${exact.length > LONGEST_AMOUNT ? compactNumber(Number(hop.amount)) : exact} ${coin}`;
  const block = `block ${grouped(hop.blockNumber)}`;
  // At the right edge there is room on the left only.
  const beside =
    x1 < NODE.width
      ? { x: middle.x + 12, 'text-anchor': 'start' }
      : { x: middle.x - 12, 'text-anchor': 'end' };
  const [first, second] = upright
    ? [
        { ...beside, y: middle.y - 3 },
        { ...beside, y: middle.y + 14 },
      ]
    : [
        { x: middle.x, y: middle.y - 8, 'text-anchor': 'middle' },
        { x: middle.x, y: middle.y + 18, 'text-anchor': 'middle' },
      ];
  return s(
    'g',
    { class: hop.source === 'internal' ? 'edge internal' : 'edge' },
    s('title', {}, `${hop.amount} ${coin} in ${block}, ${ago(hop.timestamp)}, transaction ${hop.txHash}`),
    s('line', { x1, y1, x2, y2 }),
    s('path', { d: arrowHead(x1, y1, x2, y2) }),
    s('text', { ...first, class: 'amount' }, amount),
    s('text', second, hop.source === 'internal' ? `${block}, internal` : block),
  );
}

/**
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
function arrowHead(x1, y1, x2, y2) {
  const dx = Math.sign(x2 - x1);
  const dy = Math.sign(y2 - y1);
  const [bx, by] = [x2 - dx * ARROW, y2 - dy * ARROW];
  return `M${x2} ${y2}L${bx - dy * 4} ${by - dx * 4}L${bx + dy * 4} ${by + dx * 4}Z`;
}
