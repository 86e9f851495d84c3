import type { Hex } from '../lib/hex.ts';
import type { SampleAddresses } from './sample-addresses.ts';

interface BannerData {
  /** Address of the daemon, such as `http://127.0.0.1:8650`. */
  url: string;
  /** Address of the chain's node. */
  nodeUrl: string;
  key: string;
  /** The operator token, or null if the operator already knows it. */
  adminToken: string | null;
  samples: SampleAddresses;
}

/** The addresses, the key and requests to paste, as text for a terminal. */
export function devBanner(data: BannerData): string {
  const { url, nodeUrl, key, adminToken, samples } = data;
  const sockets = url.replace(/^http/, 'ws');
  const [coordinated] = samples.cohort;
  return `
atlas-node is indexing a local chain with demo traffic and serving it.

  key         ${key}
  REST        ${url}/api, documented at ${url}/docs
  RPC         ${url}/rpc (anvil_* too, to steer the chain)
  WebSocket   ${sockets}/ws and ${sockets}/ws/signals
  node        ${nodeUrl} (anvil, one block a second)

Addresses to look up:

  token       ${samples.token} (ERC-20)
  NFT         ${samples.nft} (ERC-721)
  trader      ${samples.trader} (buys and sells every token)
  hot wallet  ${samples.hotWallet} (funds many wallets)
  coordinated ${coordinated} (funded together with ${samples.cohort.length - 1} others)

Paste any of these into another terminal:

${curlLines(data).join('\n\n')}

Ctrl-C stops the daemon and the chain. Open one of these in a browser:

  panel       ${url}/admin (operator token ${adminToken ?? 'as configured'})
  explorer    ${url}/#key=${key}
`;
}

/** Five requests with non-trivial answers, each one line of shell. */
function curlLines({ url, key, samples }: BannerData): string[] {
  const get = (endpoint: string, parameters: string) =>
    `curl -s -H 'X-API-Key: ${key}' '${url}/api/${endpoint}?${parameters}'`;
  const post = (path: string, body: object) =>
    `curl -s -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}' '${url}${path}'`;
  const chainEnd = samples.chain.at(-1);
  const batch: Hex[] = [samples.hotWallet, samples.whale, ...samples.cohort.slice(0, 2)];
  return [
    get('address_transfers', `address=${samples.trader}&limit=5`),
    get('wallet_summary', `address=${samples.hotWallet}`),
    get('wallet_funding_source', `address=${chainEnd}`),
    post('/api/wallets/batch', { addresses: batch }),
    post('/rpc', { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
  ];
}
