/** A token in numbers. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { grouped, label, NAME_CHARS } from '../ui/format.js';
import { nothing } from './section.js';
import { moment } from './time-view.js';

/** @typedef {() => Promise<import('./api.js').Answered<import('./api-types.js').TokenStats>>} AskStats */

/**
 * @param {AskStats} askStats
 * @returns {Promise<import('./section.js').Shown>}
 */
export async function loadTokenFacts(askStats) {
  const { data, exchange } = await askStats();
  return { content: factsView(data), exchanges: [exchange] };
}

/** @param {import('./api-types.js').TokenStats} stats */
function factsView(stats) {
  const { name, symbol, decimals, type, firstSeenAt, firstSeenBlock } = stats;
  if (stats.transferCount === 0) {
    return nothing(
      'No token transfer of this contract is in the index. It may be a wallet, or another kind of contract.',
    );
  }
  const names = [name, symbol].filter((text) => text !== null).map((text) => label(text, NAME_CHARS));
  return h(
    'dl',
    { class: 'facts' },
    names.length === 0 ? null : fact('Name, as the contract says', h('bdi', {}, names.join(', '))),
    fact('Transfers', grouped(stats.transferCount)),
    fact('Holders', grouped(stats.holderCount), 'with a balance above zero'),
    fact('Wallets', grouped(stats.uniqueWallets), 'that ever had it'),
    fact(
      'First seen',
      `block ${grouped(firstSeenBlock ?? 0)}`,
      firstSeenAt === null ? null : moment(firstSeenAt),
    ),
    type === null ? null : fact('Kind', label(type), decimals === null ? null : `${decimals} decimals`),
  );
}
