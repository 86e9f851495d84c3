/** A wallet in numbers, with its labels. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { countText, grouped, NATIVE_DECIMALS, safeName, unitsToText } from '../ui/format.js';
import { blockNumberAnchor, walletAnchor } from './address-view.js';
import { amountView } from './amount-view.js';
import { notice } from './section.js';
import { timeAgo } from './time-view.js';

/** What each label means: the rule that gave it. */
const MEANINGS = {
  fresh: 'younger than 1,000 blocks, with fewer than 20 transactions',
  whale: 'received or sent more than 10,000 coins',
  bot_likely: 'more than one transaction in two blocks, over 500 or more',
  high_activity: 'more than 5,000 transactions',
  trader: '20 or more different tokens',
  contract_likely: 'receives internal transfers and has no token activity',
  casual: 'one to three tokens and fewer than 50 transactions',
  regular: 'no other label applies',
};

/** @typedef {() => Promise<import('./api.js').Answered<import('./api-types.js').Summary>>} AskSummary */

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} address
 * @param {AskSummary} askSummary
 * @returns {Promise<import('./section.js').PartContent>}
 */
export async function loadSummary({ api, coin, signal }, address, askSummary) {
  const [summary, labels] = await Promise.all([
    askSummary(),
    /** @type {Promise<import('./api.js').Answered<import('./api-types.js').Label>>} */ (
      api.get('wallet_label', { address }, signal)
    ),
  ]);
  return {
    content: summaryView(summary.data, labels.data, coin),
    exchanges: [summary.exchange, labels.exchange],
  };
}

/**
 * @param {import('./api-types.js').Summary} summary
 * @param {import('./api-types.js').Label} label
 * @param {string} coin
 */
function summaryView(summary, { labels, confidence, stats }, coin) {
  if (summary.txCount === 0) {
    return notice(
      'No transfer of this address is in the index. It may be new, or older than what is indexed.',
    );
  }
  const { firstSeenBlock, lastSeenBlock, lastActivity, firstFundingSource } = summary;
  const age = stats.ageBlocks === null ? '' : `${countText(stats.ageBlocks, 'block')} ago`;
  return [
    labelList(labels, confidence),
    h(
      'dl',
      { class: 'facts' },
      fact('Transactions', grouped(summary.txCount)),
      fact('Tokens', grouped(summary.uniqueTokens)),
      fact('Received', amountView(summary.nativeReceived, coin)),
      fact('Sent', amountView(summary.nativeSent, coin)),
      fact('Balance of flows', amountView(balanceOf(summary), coin), 'received less sent, without fees'),
      fact('First seen', ['block ', blockNumberAnchor(firstSeenBlock ?? 0)], age),
      fact(
        'Last seen',
        ['block ', blockNumberAnchor(lastSeenBlock ?? 0)],
        lastActivity === null ? '' : timeAgo(lastActivity),
      ),
      fact('First funded by', firstFundingSource === null ? 'nobody' : walletAnchor(firstFundingSource)),
    ),
  ];
}

/** @param {import('./api-types.js').Summary} summary */
function balanceOf({ nativeReceivedWei, nativeSentWei }) {
  return unitsToText(BigInt(nativeReceivedWei) - BigInt(nativeSentWei), NATIVE_DECIMALS);
}

/**
 * @param {string[]} labels
 * @param {string} confidence
 */
function labelList(labels, confidence) {
  if (labels.length === 0) return null;
  return h(
    'p',
    { class: 'labels' },
    labels.map((name) =>
      h('span', { class: 'label', title: meaningOf(name) }, safeName(name.replaceAll('_', ' '))),
    ),
    h('span', { class: 'soft small' }, `${safeName(confidence)} confidence`),
  );
}

/** @param {string} name */
function meaningOf(name) {
  return Object.entries(MEANINGS).find(([known]) => known === name)?.[1] ?? null;
}
