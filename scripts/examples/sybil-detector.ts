/**
 * Finds wallets that one funder created: looks at each new wallet once, when it is created, and prints the group that
 * it belongs to. Exchanges, bridges and faucets fund strangers; the service says which funders are such hubs.
 *
 *   node_modules/.bin/node scripts/examples/sybil-detector.ts http://127.0.0.1:8650 KEY [SIZE]
 */
import type { AnswerOf } from '../../src/api/endpoint.ts';
import type { coordinatedWallets } from '../../src/api/endpoints/index.ts';
import { signals } from './signals.ts';

const [url, key, size = '3'] = process.argv.slice(2);
if (url === undefined || key === undefined) throw new Error('usage: sybil-detector.ts URL KEY [SIZE]');

/** Wallets of a group were funded within this many blocks of each other. */
const SPREAD_BLOCKS = 20;

for await (const created of signals(url, key, { events: ['wallet_created'] })) {
  if (created.event !== 'wallet_created' || created.removed || created.funder === null) continue;
  const response = await fetch(`${url}/api/coordinated_wallets?address=${created.wallet}&limit=200`, {
    headers: { 'X-API-Key': key },
  });
  if (!response.ok) throw new Error(`coordinated_wallets answered ${response.status}`);
  const siblings: AnswerOf<typeof coordinatedWallets> = JSON.parse(await response.text());
  if (siblings.hub) continue;
  const near = siblings.coordinated.filter(
    ({ blockNumber }) => Math.abs(blockNumber - created.blockNumber) <= SPREAD_BLOCKS,
  );
  if (near.length + 1 < Number(size)) continue;
  const wallets = [created.wallet, ...near.map(({ address }) => address)].sort();
  console.log(JSON.stringify({ funder: created.funder, block: created.blockNumber, wallets }));
}
