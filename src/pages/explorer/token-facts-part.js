/** A token in numbers. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { grouped, NAME_CHARS, safeName } from '../ui/format.js';
import { blockNumberAnchor } from './address-view.js';
import { notice } from './section.js';
import { timeAgo } from './time-view.js';

/** @typedef {() => Promise<import('./api.js').Answered<import('./api-types.js').TokenStats>>} AskStats */

/**
 * @param {AskStats} askStats
 * @returns {Promise<import('./section.js').PartContent>}
 */
export async function loadTokenFacts(askStats) {
  const { data, exchange } = await askStats();
  return { content: factsView(data), exchanges: [exchange] };
}

/** @param {import('./api-types.js').TokenStats} stats */
function factsView(stats) {
  const { name, symbol, decimals, type, firstSeenAt, firstSeenBlock } = stats;
  if (stats.transferCount === 0) {
    return notice(
      'No token transfer of this contract is in the index. It may be a wallet, or another kind of contract.',
    );
  }
  const names = [name, symbol].map((text) => safeName(text ?? '', NAME_CHARS)).filter((text) => text !== '');
  return h(
    'dl',
    { class: 'facts' },
    names.length === 0
      ? null
      : fact(
          'Name, according to the contract',
          names.map((text, i) => [i > 0 && ', ', h('bdi', {}, text)]),
        ),
    fact('Transfers', grouped(stats.transferCount)),
    fact('Holders', grouped(stats.holderCount), 'with a balance above zero'),
    fact('Wallets', grouped(stats.uniqueWallets), 'that ever held it'),
    fact(
      'First seen',
      ['block ', blockNumberAnchor(firstSeenBlock ?? 0)],
      firstSeenAt === null ? null : timeAgo(firstSeenAt),
    ),
    type === null ? null : fact('Kind', safeName(type), decimals === null ? null : `${decimals} decimals`),
  );
}
