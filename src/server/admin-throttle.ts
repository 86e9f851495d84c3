/** How often each network recently gave a wrong operator token. */

/** How an IPv4 address that is written as an IPv6 one begins, in hex. */
const IPV4_MAPPED = `${'0'.repeat(20)}ffff`;

const WINDOW_MS = 60_000;

/** Failures within the window after which a network has to wait. */
const MAX_FAILURES = 10;

/** Most networks remembered; beyond it the one that failed first is dropped. */
const MAX_NETWORKS = 10_000;

export class AdminThrottle {
  private readonly clock: () => number;
  /** Times of the last failures of each network, oldest first; milliseconds of the clock. */
  private readonly times = new Map<string, number[]>();

  constructor(clock: () => number) {
    this.clock = clock;
  }

  /** Whole seconds the network has to wait before it may try again; 0 when it may now. */
  retryAfterSeconds(network: string): number {
    const recent = this.recent(network);
    const first = recent[0];
    if (first === undefined || recent.length < MAX_FAILURES) return 0;
    return Math.max(1, Math.ceil((first + WINDOW_MS - this.clock()) / 1000));
  }

  /** Records a failure. */
  recordFailure(network: string): void {
    const recent = this.recent(network);
    recent.push(this.clock());
    this.times.set(network, recent);
    if (this.times.size > MAX_NETWORKS) this.times.delete(this.times.keys().next().value ?? '');
  }

  private recent(network: string): number[] {
    const since = this.clock() - WINDOW_MS;
    return (this.times.get(network) ?? []).filter((time) => time > since);
  }
}

/**
 * The network that failures are counted against, from the bytes of an IP address: an IPv4 address alone, or the /64
 * network of an IPv6 one, since whoever has one address of it has them all.
 */
export function clientNetworkOf(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  const hex = Buffer.from(address).toString('hex');
  if (hex.startsWith(IPV4_MAPPED)) return address.subarray(12).join('.');
  const network = hex.slice(0, 16).match(/..../g) ?? [];
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
