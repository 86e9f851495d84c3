/**
 * Copy-trades the given wallets at a tenth of their size: prints a buy order per purchase, and cancels the order if a
 * reorg removes the purchase.
 *
 *   node_modules/.bin/node scripts/examples/copy-trading.ts http://127.0.0.1:8650 KEY WALLET...
 */
import type { Signal } from '../../src/schemas/stream-records.ts';
import { signals } from './signals.ts';

const SHARE = 10n;
/** Orders remembered: more than a wallet makes while a reorg can still remove them. */
const MAX_ORDERS = 10_000;

const [url, key, ...wallets] = process.argv.slice(2);
if (url === undefined || key === undefined || wallets.length === 0)
  throw new Error('usage: copy-trading.ts URL KEY WALLET...');

// The service filters out airdrops, plain transfers and refunds, and reports what was paid on balance.
const filter = { wallets, events: ['wallet_token_buy' as const], purchasesOnly: true };
const orders = new Set<string>();

for await (const buy of signals(url, key, filter)) {
  // Anyone can make a contract that logs a purchase in anyone's name. Smart accounts never send theirs themselves.
  if (buy.event !== 'wallet_token_buy' || buy.initiated === false) continue;
  // A purchase has an event per received transfer, each with the whole payment. After a reorg its block is another.
  const order = `${buy.blockHash}-${buy.txHash}-${buy.wallet}`;
  if (buy.removed) {
    if (orders.delete(order)) console.log(JSON.stringify({ cancel: order }));
  } else if (!orders.has(order)) {
    orders.add(order);
    if (orders.size > MAX_ORDERS) for (const oldest of [...orders].slice(0, 1)) orders.delete(oldest);
    console.log(JSON.stringify({ order, copies: buy.wallet, ...copyOf(buy), age: buy.funding_age }));
  }
}

/** A share of the purchase. Not of one whose payment is unknown, or too long to be listed: a person must decide. */
function copyOf(buy: Extract<Signal, { event: 'wallet_token_buy' }>): object {
  const { paid, received, paidCount, paidReason, tokenAddress, symbol } = buy;
  if (paid === null || received === null) return { undecided: paidReason };
  if (paidCount !== paid.length) return { undecided: `${paidCount} assets were paid` };
  const spend = paid.map((payment) => ({
    token: payment.tokenAddress ?? 'native',
    symbol: payment.symbol,
    amount: (BigInt(payment.amount) / SHARE).toString(),
  }));
  const buys = received.map((asset) => ({ token: asset.tokenAddress ?? 'native', symbol: asset.symbol }));
  return { token: tokenAddress, symbol, buys, spend };
}
