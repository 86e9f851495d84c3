/** Who funded the wallet, who funded that one, and so on. */

import { ApiError } from '../ui/api-error.js';
import { h } from '../ui/dom.js';
import { chainGraph } from './chain-graph.js';
import { notice } from './section.js';

/** What every tier allows, and the most that any does. */
const DEPTH = 5;
const MAX_DEPTH = 10;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} address
 * @param {() => void} again has the part loaded anew
 * @returns {() => Promise<import('./section.js').PartContent>}
 */
export function chainLoader({ api, coin, signal }, address, again) {
  let depth = DEPTH;
  let refusal = '';

  return async () => {
    const { data, exchange } = await ask();
    if (data.chain.length === 0) {
      return {
        content: notice('No native transfer from another wallet to this one is in the index.'),
        exchanges: [exchange],
      };
    }
    const more = data.chain.length === depth && depth < MAX_DEPTH && refusal === '';
    const deeper = () => {
      depth = MAX_DEPTH;
      again();
    };
    return {
      content: [
        chainGraph(data.chain, coin),
        h(
          'div',
          { class: 'controls' },
          h('p', { class: 'soft small' }, ending(data.chain.length)),
          more
            ? h('button', { type: 'button', class: 'button compact', onclick: deeper }, 'Go further back')
            : null,
        ),
      ],
      exchanges: [exchange],
    };
  };

  /** @returns {Promise<import('./api.js').Answered<{ chain: import('./api-types.js').Hop[] }>>} */
  async function ask() {
    try {
      return await api.get('funding_chain', { address, depth }, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'tier_limit' || depth === DEPTH) throw error;
      depth = DEPTH;
      refusal = error.message;
      return api.get('funding_chain', { address, depth }, signal);
    }
  }

  /** @param {number} hops */
  function ending(hops) {
    if (refusal !== '') return `The tier of this key ends here: ${refusal}.`;
    if (hops === MAX_DEPTH)
      return 'The API goes back ten hops. Click on the first wallet to go on from there.';
    if (hops === depth) return 'The chain may go on before the first wallet.';
    return 'The index has no funding of the first wallet, or its funder is already in the chain.';
  }
}
