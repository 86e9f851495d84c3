/** The address of a client, also behind trusted proxies (`server.trusted_proxies`). */
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { HttpRequest, HttpResponse } from '../uws.ts';

/** Returns the bytes of the client's IP address, 4 or 16. */
export type ClientAddress = (res: HttpResponse, req: HttpRequest) => Uint8Array;

/**
 * A trusted proxy passes the client's address by the PROXY protocol or in X-Forwarded-For, to which each proxy appends
 * its caller's address. The client is therefore the last address that is not a trusted proxy. A client can forge the
 * addresses before it. `trusted` lists addresses and networks such as `10.0.0.0/8`.
 */
export function clientAddressOf(trusted: readonly string[]): ClientAddress {
  const proxies = new BlockList();
  for (const entry of trusted) {
    const [network = '', bits] = entry.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (bits === undefined) proxies.addAddress(network, family);
    else proxies.addSubnet(network, Number(bits), family);
  }
  const isTrusted = (address: Uint8Array): boolean => {
    const text = addressText(address);
    return proxies.check(text, isIPv6(text) ? 'ipv6' : 'ipv4');
  };
  return (res, req) => {
    let client = new Uint8Array(res.getRemoteAddress());
    if (trusted.length === 0 || !isTrusted(client)) return client;
    const byProtocol = new Uint8Array(res.getProxiedRemoteAddress());
    if (byProtocol.length > 0) client = byProtocol;
    for (const text of forwardedFor(req).reverse()) {
      if (!isTrusted(client)) return client;
      const address = parseAddress(text.trim());
      if (address === null) return client;
      client = address;
    }
    return client;
  };
}

/** All addresses in order. HAProxy adds a second header line instead of appending to the client's. */
function forwardedFor(req: HttpRequest): string[] {
  const texts: string[] = [];
  req.forEach((name, value) => {
    if (name === 'x-forwarded-for') texts.push(...value.split(','));
  });
  return texts;
}

/** The bytes of an IP address, null for any other text. */
export function parseAddress(text: string): Uint8Array<ArrayBuffer> | null {
  const version = isIP(text);
  if (version === 4) return Uint8Array.from(text.split('.'), Number);
  if (version === 0 || text.includes('%')) return null;
  const v4 = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const [a = 0, b = 0, c = 0, d = 0] = (v4?.[2] ?? '').split('.').map(Number);
  const groups = v4 === null ? text : `${v4[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const [head = [], tail = []] = groups
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const all = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return Uint8Array.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  );
}

/** Text of an address. IPv4 stays IPv4, also where a dual-stack socket maps it into IPv6. */
export function addressText(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  const hex = Buffer.from(address).toString('hex');
  if (hex.startsWith('00000000000000000000ffff')) return address.subarray(12).join('.');
  return (hex.match(/..../g) ?? []).join(':');
}
