/** A funder with the wallets it funded first, as a drawing to click through. */
import { h, replace, s } from '../ui/dom.js';
import { grouped, groupedText, shortHex } from '../ui/format.js';
import { redrawOnResize } from '../ui/redraw-on-resize.js';
import { cohortLayout } from './cohort-layout.js';
import { walletLink } from './route.js';

/** @typedef {{ address: string, amount: string, blockNumber: number }} Member */

const FUNDER_RADIUS = 25;

/** How much larger the wallet that is looked at is drawn. */
const HERE_EXTRA = 3;

/**
 * @param {string} funder
 * @param {readonly Member[]} members in the order of their funding
 * @param {string} here the wallet that is looked at
 * @param {string} coin
 */
export function cohortGraph(funder, members, here, coin) {
  const resting = `${shortHex(funder)} in the middle; the wallets it funded around it, clockwise in the order of their blocks`;
  const readout = h('p', { class: 'readout soft small', 'aria-live': 'polite' }, resting);
  const svg = s('svg', { role: 'group', 'aria-label': 'Wallets with the same funder' });
  const box = h('div', { class: 'graph' }, svg);
  /** @param {string | null} text */
  const say = (text) => {
    readout.textContent = text ?? resting;
  };

  /** @param {number} width */
  const draw = (width) => {
    const amounts = members.map(({ amount }) => Number(amount));
    const { dots, center, height, named } = cohortLayout(amounts, width);
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.setAttribute('width', String(width));
    svg.setAttribute('height', String(height));
    replace(
      svg,
      dots.map(({ x, y }, i) =>
        s('line', {
          class: members[i]?.address === here ? 'spoke here' : 'spoke',
          x1: center.x,
          y1: center.y,
          x2: x,
          y2: y,
        }),
      ),
      memberLink(funder, `${funder}, the funder`, false, say, [
        s('circle', { class: 'funder', cx: center.x, cy: center.y, r: FUNDER_RADIUS }),
        s('text', { class: 'middle', x: center.x, y: center.y + 4, 'text-anchor': 'middle' }, 'funder'),
      ]),
      dots.map((dot, i) => {
        const member = members[i];
        return member === undefined
          ? null
          : memberDot(member, dot, { named, isHere: member.address === here, coin, say });
      }),
    );
  };
  redrawOnResize(box, draw);
  return h('div', {}, readout, box);
}

/**
 * @param {Member} member
 * @param {import('./cohort-layout.js').Dot} dot
 * @param {{ named: boolean, isHere: boolean, coin: string, say: (text: string | null) => void }} options
 */
function memberDot({ address, amount, blockNumber }, { x, y, radius, angle }, { named, isHere, coin, say }) {
  const right = Math.cos(angle) > -0.01;
  const text = `${address}${isHere ? ', this wallet' : ''}: ${groupedText(amount)} ${coin} in block ${grouped(blockNumber)}`;
  return memberLink(address, text, isHere, say, [
    s('circle', {
      class: isHere ? 'member here' : 'member',
      cx: x,
      cy: y,
      r: radius + (isHere ? HERE_EXTRA : 0),
    }),
    named
      ? s(
          'text',
          { x: x + (right ? radius + 5 : -radius - 5), y: y + 4, 'text-anchor': right ? 'start' : 'end' },
          shortHex(address),
        )
      : null,
  ]);
}

/**
 * @param {string} address
 * @param {string} text
 * @param {boolean} isHere
 * @param {(text: string | null) => void} say
 * @param {(SVGElement | null)[]} children
 */
function memberLink(address, text, isHere, say, children) {
  const events = {
    onpointerenter: () => say(text),
    onpointerleave: () => say(null),
    onfocus: () => say(text),
    onblur: () => say(null),
  };
  if (isHere) return s('g', { 'aria-label': text, ...events }, children);
  return s('a', { href: walletLink(address), 'aria-label': text, ...events }, children);
}
