/** Reference shared by all endpoints: keys, limits, errors, and label criteria. */
import { CRITERIA_TEXTS } from '../../api/endpoints/wallet-label.ts';
import type { API_ERROR_CODES } from '../../lib/errors.ts';
import { table } from './docs-html.ts';

/** Status and meaning of each error code. */
const ERRORS: Record<(typeof API_ERROR_CODES)[number], [status: string, meaning: string]> = {
  invalid_parameter: ['400', 'A parameter is missing, repeated or out of range; param names it'],
  invalid_address: ['400', 'Not 0x and 40 hex digits; param names the parameter'],
  invalid_body: ['400', 'The body is not the JSON that the endpoint expects'],
  batch_too_large: ['400', 'More than 100 addresses in wallets/batch'],
  tier_limit: ['403', 'Exceeds the tier of the key'],
  not_allowed: ['403', 'The operator has not allowed this key to call it'],
  not_found: ['404', 'No such path, or the node does not know the transaction or block'],
  method_not_allowed: ['405', 'The path exists but requires another method'],
  body_too_large: ['413', 'The body exceeds 64 KiB'],
  unsupported_media_type: ['415', 'Send application/json, without Content-Encoding'],
  rate_limited: ['429', 'The key exceeded its rate limit; retryAfter is the time to wait, in seconds'],
  quota_exceeded: [
    '429',
    'The monthly quota is used up; retryAfter is the time until the next month, in seconds',
  ],
  internal: ['500', 'A bug in the service; the details are in its log'],
  not_ready: ['503', 'Not indexed yet; retry after Retry-After seconds'],
  timeout: ['503', 'The query took too long'],
  busy: ['503', 'Too many long queries at once; retry'],
  node_unavailable: ['503', 'The node did not answer'],
  storage: ['503', 'The index is temporarily unreadable'],
};

/** Configuration can change the limits of streams and /rpc. Tiers set rate, quota and depth. */
const LIMITS = [
  ['rate and quota', 'set by the tier of the key; every call of a batch counts'],
  ['limit', 'see the table of each endpoint; pass cursor for the next page'],
  ['blocks', '1,000,000'],
  ['depth of funding_chain', '10, or less where the tier of the key says so'],
  ['wallets/batch', '100 addresses, 64 KiB'],
  ['batch on /rpc', '1,000 calls, 2 MB'],
  ['eth_getLogs', '10,000 blocks; above, the error names a range that works'],
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
