/**
 * Prints alerts that a webhook delivers, also those of the time in which this program did not run: the service keeps
 * the place. Make the hook first; it prints the secret:
 *
 *   atlas-node hooks create --url http://127.0.0.1:9000/ --filter '{"events":["whale_transfer"],"minMon":"1000"}'
 *   HOOK_SECRET=whsec_... node_modules/.bin/node scripts/examples/alert-bot.ts 9000
 */
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { Delivery, HookMessage } from '../../src/schemas/stream-records.ts';

const webhook = new Webhook(process.env.HOOK_SECRET ?? '');
const port = Number(process.argv[2] ?? 9_000);

createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  try {
    webhook.verify(body, { ...request.headers } as Record<string, string>);
  } catch {
    response.writeHead(401).end();
    return;
  }
  const { deliveries }: HookMessage = JSON.parse(body);
  for (const delivery of deliveries) console.log(alertText(delivery));
  response.writeHead(204).end(); // on an error instead, everything is redelivered under the same ids
}).listen(port, '127.0.0.1', () => console.log(`listening on ${port}`));

/** An alert channel that stores ids can drop repeats by `deliveryId` and retract the alert named in `withdraws`. */
function alertText(event: Delivery): string {
  const { deliveryId, withdraws, wallet, to, value_mon, symbol, txHash, funding_age } = event;
  if (withdraws !== undefined) return `${deliveryId} withdraws ${withdraws}: a reorg removed ${txHash}`;
  return `${deliveryId} ${wallet} sent ${value_mon} ${symbol} to ${to}, ${funding_age} ago (${txHash})`;
}
