/**
 * Prints what up to 100 wallets hold together: the native coin and each token, in one request, and one more per 200
 * tokens of a wallet that holds more than 20.
 *
 *   node_modules/.bin/node scripts/examples/portfolio.ts http://127.0.0.1:8650 KEY WALLET...
 */
import { formatUnits } from 'viem';
import type { AnswerOf } from '../../src/api/endpoint.ts';
import type { walletsBatch, walletTokens } from '../../src/api/endpoints/index.ts';

type Tokens = AnswerOf<typeof walletTokens>;

const [url, key, ...addresses] = process.argv.slice(2);
if (url === undefined || key === undefined || addresses.length === 0)
  throw new Error('usage: portfolio.ts URL KEY WALLET...');
const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };

async function ask<Answer>(path: string, body?: string): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { headers, ...(body && { method: 'POST', body }) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return JSON.parse(await response.text());
}

/** All pages of a wallet's tokens. */
async function tokensOf({ address, tokens, nextCursor }: Tokens): Promise<Tokens['tokens']> {
  if (nextCursor === null) return tokens;
  const next = await ask<Tokens>(`/api/wallet_tokens?address=${address}&limit=200&cursor=${nextCursor}`);
  return [...tokens, ...(await tokensOf(next))];
}

const fields = ['tokens', 'nativeBalance'];
const { wallets } = await ask<AnswerOf<typeof walletsBatch>>(
  '/api/wallets/batch',
  JSON.stringify({ addresses, fields }),
);
let native = 0n;
const held = new Map<
  string,
  { symbol: string | null; decimals: number | null; balance: bigint; wallets: number }
>();
for (const [address, entry] of Object.entries(wallets)) {
  if (!entry?.tokens) continue; // no indexed activity
  if (typeof entry.nativeBalanceWei !== 'string') console.error(`${address}: ${entry.nativeBalanceReason}`);
  native += BigInt(entry.nativeBalanceWei ?? 0);
  for (const { tokenAddress, symbol, decimals, balance, accuracy } of await tokensOf(entry.tokens)) {
    if (accuracy === 'unreliable') continue; // the sum of its transfers is no balance
    const sum = held.get(tokenAddress) ?? { symbol, decimals, balance: 0n, wallets: 0 };
    held.set(tokenAddress, { ...sum, balance: sum.balance + BigInt(balance), wallets: sum.wallets + 1 });
  }
}
console.log(JSON.stringify({ token: 'native', amount: formatUnits(native, 18) }));
for (const [token, { balance, decimals, ...rest }] of held)
  console.log(JSON.stringify({ token, ...rest, amount: formatUnits(balance, decimals ?? 0) }));
