/**
 * Restricts the targets of deliveries. Otherwise anybody who may create a hook could make the daemon call services that
 * only this machine or its network reaches. The address is checked at connection time, after name resolution, and the
 * connection goes to the checked address, so a name that later resolves differently gains nothing.
 */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Networks that are not on the public internet, from IANA's registries of special addresses. */
const PRIVATE_NETWORKS: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

/** The only IPv6 addresses in use on the public internet. */
const PUBLIC_IPV6 = ['2000::', 3] as const;

/** Exceptions within it: documentation, and IPv4 addresses wrapped in IPv6 (Teredo, 6to4). */
const SPECIAL_IPV6: typeof PRIVATE_NETWORKS = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const privateIpv4 = new BlockList();
for (const [network, prefix] of PRIVATE_NETWORKS) privateIpv4.addSubnet(network, prefix, 'ipv4');
const publicIpv6 = new BlockList();
publicIpv6.addSubnet(...PUBLIC_IPV6, 'ipv6');
const specialIpv6 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV6) specialIpv6.addSubnet(network, prefix, 'ipv6');

export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !privateIpv4.check(address, 'ipv4');
    case 6:
      return publicIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** The target of a hook is refused. The operator must change it or allow private targets. */
class RefusedTargetError extends Error {}

const REFUSAL = 'is not on the public internet; set hooks.allow_private to deliver there';

/** The URL, or why it is refused. A host name is only checked when it is resolved. */
export function parseTarget(text: string, allowPrivate: boolean): URL | string {
  if (!URL.canParse(text)) return 'url must be an http or https URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'url must be an http or https URL';
  const host = hostOf(url);
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return `${host} ${REFUSAL}`;
  return url;
}

/** The host name or address of a URL, without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Resolves names for connections. Fails with RefusedTargetError if any address of a name is private. */
export function checkedLookup(allowPrivate: boolean, resolve: typeof lookup = lookup): LookupFunction {
  return (host, options, callback) => {
    const all: LookupOptions & { all: true } = { ...options, all: true };
    resolve(host, all, (error, addresses: LookupAddress[]) => {
      const first = addresses?.[0];
      if (error !== null || first === undefined) return callback(error ?? new Error('no address'), '', 0);
      const refused = allowPrivate ? undefined : addresses.find(({ address }) => !isPublicAddress(address));
      if (refused !== undefined) return callback(new RefusedTargetError(`${host} ${REFUSAL}`), '', 0);
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
