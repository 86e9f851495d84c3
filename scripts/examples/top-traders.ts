/**
 * Follows the top traders of a token: prints what each of them buys from now on in transactions that it sent itself,
 * and takes back what a reorg removes.
 *
 *   node_modules/.bin/node scripts/examples/top-traders.ts http://127.0.0.1:8650 KEY TOKEN [COUNT]
 */
import { signals } from './signals.ts';

interface Ranking {
  traders: { address: string; averageCostProfit: string | null }[];
}

const [url, key, token, count = '10'] = process.argv.slice(2);
if (url === undefined || key === undefined || token === undefined)
  throw new Error('usage: top-traders.ts URL KEY TOKEN [COUNT]');

const query = new URLSearchParams({ token, order: 'profit', limit: count });
const answer = await fetch(`${url}/api/token_traders?${query}`, { headers: { 'X-API-Key': key } });
if (!answer.ok) throw new Error(`token_traders answered ${answer.status}: ${await answer.text()}`);
const { traders }: Ranking = JSON.parse(await answer.text());
const wallets = traders.filter((of) => BigInt(of.averageCostProfit ?? 0) > 0n).map((of) => of.address);
if (wallets.length === 0) throw new Error(`nobody has earned anything on ${token}`);
console.log(JSON.stringify({ follows: wallets }));

const filter = { wallets, events: ['wallet_trade' as const], kinds: ['buy' as const], initiated: true };
for await (const trade of signals(url, key, filter)) {
  if (trade.event !== 'wallet_trade' || trade.initiated !== true) continue; // null: the node does not say who sent it
  const { txHash, wallet, tokenAddress, amount, price, uncertain, removed = false } = trade;
  console.log(JSON.stringify({ txHash, wallet, buys: tokenAddress, amount, price, uncertain, removed }));
}
