/** Requests to a daemon whose disk fails. Each answer must be right for its block. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

const PAUSE_MS = 2;

interface Expected {
  /** The transfers of a wallet up to a block, newest first, as the API lists them. */
  transfersUpTo(address: string, block: number): Promise<unknown>;
}

export class Traffic {
  /** Answers by HTTP status; 0 means no answer. */
  readonly statuses = new Map<number, number>();
  wrong: string[] = [];
  private readonly expected: Expected;
  private readonly addresses: readonly string[];
  private readonly key: string;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor(url: () => string, key: string, addresses: readonly string[], expected: Expected) {
    this.key = key;
    this.addresses = addresses;
    this.expected = expected;
    this.running = this.run(url);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(url: () => string): Promise<void> {
    for (let i = 0; !this.stopping.signal.aborted; i++) {
      const address = this.addresses[i % this.addresses.length]!;
      const status = await this.ask(url(), address).catch(() => 0); // the daemon may be down right now
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      await sleep(PAUSE_MS);
    }
  }

  private async ask(url: string, address: string): Promise<number> {
    const query = `address=${address}&limit=5&include_internal=true`;
    const response = await fetch(`${url}/api/address_transfers?${query}`, {
      headers: { 'X-API-Key': this.key },
      signal: AbortSignal.timeout(10_000),
    });
    const body = (await response.json()) as { transfers?: unknown };
    if (response.status !== 200) return response.status;
    const block = Number(response.headers.get('X-Indexed-Block'));
    const expected = await this.expected.transfersUpTo(address, block);
    if (!isDeepStrictEqual(body.transfers, expected))
      this.wrong.push(`${address} at block ${block}: ${JSON.stringify(body).slice(0, 500)}`);
    return response.status;
  }
}
