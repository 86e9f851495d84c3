/** What holds for every endpoint: keys, limits, errors; and the criteria of labels. */
import { CRITERIA_TEXTS } from '../../api/endpoints/wallet-label.ts';
import type { API_ERROR_CODES } from '../../lib/errors.ts';
import { table } from './docs-html.ts';

/** Status and meaning of each error code. */
const ERRORS: Record<(typeof API_ERROR_CODES)[number], [status: string, meaning: string]> = {
  invalid_parameter: ['400', 'A parameter is missing, repeated or out of range; param names it'],
  invalid_address: ['400', 'Not 0x and 40 hex digits; param names the parameter'],
  invalid_body: ['400', 'The body is not the JSON that the endpoint takes'],
  batch_too_large: ['400', 'More than 100 addresses in wallets/batch'],
  tier_limit: ['403', 'The tier of the key does not go that far'],
  not_allowed: ['403', 'The operator has not allowed this for the key'],
  not_found: ['404', 'No such path, or the node does not know the transaction or block'],
  method_not_allowed: ['405', 'The path exists, with another method'],
  body_too_large: ['413', 'More than 64 KiB'],
  unsupported_media_type: ['415', 'Send application/json, without Content-Encoding'],
  rate_limited: ['429', 'Over the rate of the key; retryAfter says how long to wait'],
  quota_exceeded: ['429', 'The requests of the month are used up; retryAfter is the rest of the month'],
  internal: ['500', 'A defect of the service; its log has the details'],
  not_ready: ['503', 'Not indexed yet; Retry-After says when to ask again'],
  timeout: ['503', 'The query took too long'],
  busy: ['503', 'Too many long queries at a time; ask again'],
  node_unavailable: ['503', 'The node did not answer'],
  storage: ['503', 'The index cannot be read at the moment'],
};

/** Settings may change those that belong to streams and to /rpc; tiers set rate, quota and depth. */
const LIMITS = [
  ['rate and quota', 'set by the tier of the key; every call of a batch counts'],
  ['limit', 'in the table of each endpoint; cursor leads on'],
  ['blocks', '1,000,000'],
  ['depth of funding_chain', '10, or less by the tier of the key'],
  ['wallets/batch', '100 addresses, 64 KiB'],
  ['batch on /rpc', '1,000 calls, 2 MB'],
  ['eth_getLogs', '10,000 blocks; beyond it the error names a range that works'],
  ['sockets', '5 per key, with 10 subscriptions each'],
  ['message to a socket', '1 MiB'],
  ['unread notifications', '8 MiB; then the socket is closed with code 1013'],
];

export const REFERENCE = `<section id="keys">
<h2>Keys</h2>
<p>Every request carries a key: in the header <code>X-API-Key</code>, or in the parameter <code>api_key</code> where
headers cannot be set. The same key is valid for <code>/rpc</code>, <code>/ws</code> and <code>/ws/signals</code>. Without
a valid key the answer is 401.</p>
<p>A key has a rate and a monthly quota. <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and
<code>RateLimit-Reset</code> show what is left; over the limit the answer is 429 with <code>retryAfter</code>, in seconds. On <code>/rpc</code> a call
over the rate is first queued for a few seconds. A batch of up to 1,000 calls that exceeds the rate is served once earlier
calls are paid off, and then counts against the seconds that follow.</p>
<p>Errors are <code>{"error":{"code","message","param"}}</code>, on <code>/rpc</code> those of JSON-RPC. To poll a GET endpoint, send
the <code>ETag</code> of the last answer in <code>If-None-Match</code>: the answer is 304 until something changes.</p>
</section>
<section id="errors">
<h2>Error codes</h2>
<p>Of every path below <code>/api</code>. A missing or invalid key is answered as on <code>/rpc</code>, with status 401 and
the JSON-RPC code -32600. On <code>/rpc</code> and the streams: -32005 over a limit, -32602 for invalid parameters, -32601 for a
method that is not offered, -32603 where the node did not answer.</p>
${table(
  ['Code', 'Status', 'Meaning'],
  Object.entries(ERRORS).map(([code, row]) => [code, ...row]),
)}
</section>
<section id="limits">
<h2>Limits</h2>
<p>As they are unless the operator has changed them.</p>
${table(['What', 'Limit'], LIMITS)}
</section>
<section id="labels">
<h2>Label criteria</h2>
<p>Labels of <code>wallet_label</code>, by what is indexed of the wallet. Several may apply.</p>
${table(['Label', 'Criterion'], Object.entries(CRITERIA_TEXTS))}
</section>`;
