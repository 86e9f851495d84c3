/**
 * Copy-trades the given wallets at a tenth of their size: prints a buy order per purchase, and cancels the order if a reorg
 * removes the purchase.
 *
 *   node_modules/.bin/node scripts/examples/copy-trading.ts http://127.0.0.1:8650 KEY WALLET...
 */
import { signals } from './signals.ts';

const SHARE = 10n;

const [url, key, ...wallets] = process.argv.slice(2);
if (url === undefined || key === undefined || wallets.length === 0)
  throw new Error('usage: copy-trading.ts URL KEY WALLET...');

// The service filters out airdrops and plain transfers, and reports what was paid.
const filter = { wallets, events: ['wallet_token_buy' as const], purchasesOnly: true };

for await (const buy of signals(url, key, filter)) {
  if (buy.event !== 'wallet_token_buy') continue;
  const order = `${buy.txHash}-${buy.eventIndex}`; // the exchange ignores an order that it already has
  if (buy.removed) {
    console.log(JSON.stringify({ cancel: order }));
    continue;
  }
  const spend = (buy.paid ?? []).map(({ tokenAddress, symbol, amount }) => ({
    token: tokenAddress ?? 'native',
    symbol,
    amount: (BigInt(amount) / SHARE).toString(),
  }));
  console.log(
    JSON.stringify({
      order,
      copies: buy.wallet,
      token: buy.tokenAddress,
      symbol: buy.symbol,
      spend,
      age: buy.funding_age,
    }),
  );
}
