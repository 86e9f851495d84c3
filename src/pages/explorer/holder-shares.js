/** How a token is spread over its holders. Pure functions. */

/**
 * @typedef {object} Share
 * @property {string} address
 * @property {bigint} balance
 * @property {number} share of what all holders listed have, 0 to 1
 * @property {number} cumulativeShare share of this holder and all larger ones
 */

/**
 * @param {readonly import('./api-types.js').Holder[]} holders largest first
 * @returns {Share[]}
 */
export function sharesOf(holders) {
  const balances = holders.map(({ balance }) => BigInt(balance));
  const total = balances.reduce((sum, balance) => sum + balance, 0n);
  let cumulative = 0n;
  return holders.map(({ address }, i) => {
    const balance = balances[i] ?? 0n;
    cumulative += balance;
    return { address, balance, share: part(balance, total), cumulativeShare: part(cumulative, total) };
  });
}

/**
 * @param {bigint} amount
 * @param {bigint} total
 */
function part(amount, total) {
  return total === 0n ? 0 : Number((amount * 1_000_000n) / total) / 1_000_000;
}

/**
 * `12.3 %`
 * @param {number} share
 */
export function percent(share) {
  const value = share * 100;
  return `${value > 0 && value < 0.1 ? '< 0.1' : value.toFixed(1)} %`;
}
