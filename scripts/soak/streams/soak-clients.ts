/** The sockets of the soak test, which subscribe, unsubscribe and reconnect at random. */
import type { Prng } from '../../../src/lib/random.ts';
import { HeadCheck, LogCheck, type OnFault, TransferCheck } from './checks.ts';
import { type EndedSubscription, SoakClient } from './client.ts';

const MAX_SUBSCRIPTIONS = 4;
/** Sockets opened at once at the start. */
const OPENED_TOGETHER = 50;

interface SoakClientsOptions {
  sockets: number;
  /** The `ws://` URL of a path of the daemon, with the key. */
  urlOf: (path: '/ws' | '/ws/signals') => string;
  prng: Prng;
  /** Addresses to draw from. Some occur several times. */
  wallets: readonly string[];
  tokens: readonly string[];
  /** The newest block of the node. */
  head: () => number;
  /** The newest block that a subscription ending now must have been notified of. */
  expectedHead: () => number;
  onEnded: (ended: EndedSubscription) => void;
  onFault: OnFault;
}

interface SoakSocket {
  client: SoakClient;
  /** Whether the socket is on `/ws/signals`. */
  signals: boolean;
}

export class SoakClients {
  private readonly options: SoakClientsOptions;
  private readonly sockets: SoakSocket[];

  constructor(options: SoakClientsOptions) {
    this.options = options;
    this.sockets = Array.from({ length: options.sockets }, (_, i) => {
      const signals = i % 8 === 7;
      const { expectedHead, onEnded, onFault } = options;
      const url = options.urlOf(signals ? '/ws/signals' : '/ws');
      return { signals, client: new SoakClient({ url, expectedHead, onEnded, onFault }) };
    });
  }

  /** Events received so far. */
  get events(): number {
    return this.sockets.reduce((sum, { client }) => sum + client.events, 0);
  }

  /** Sockets that are open. */
  get open(): number {
    return this.sockets.filter(({ client }) => client.isOpen).length;
  }

  /** Opens all sockets and creates one subscription on each. */
  async openAll(): Promise<void> {
    for (let i = 0; i < this.sockets.length; i += OPENED_TOGETHER) {
      await Promise.all(this.sockets.slice(i, i + OPENED_TOGETHER).map(({ client }) => client.open()));
    }
    await Promise.all(this.sockets.map((socket) => this.subscribe(socket)));
  }

  /** Makes one socket act. */
  async doRandomAction(): Promise<void> {
    const { prng } = this.options;
    const socket = prng.pick(this.sockets);
    const { client, signals } = socket;
    if (!client.isOpen) return client.open();
    const kind = prng.below(10);
    const ids = [...client.subscriptions.keys()];
    if (kind === 0) return client.disconnect(prng.below(2) === 0);
    if (kind < 4 && ids.length > 0)
      return client.unsubscribe(signals ? 'atlas_unsubscribe' : 'eth_unsubscribe', prng.pick(ids));
    if (ids.length < MAX_SUBSCRIPTIONS) return this.subscribe(socket);
  }

  /** Ends all subscriptions locally, without unsubscribing. */
  endAll(): void {
    for (const { client } of this.sockets) client.endAll();
  }

  private subscribe(socket: SoakSocket): Promise<void> {
    const { prng, head } = this.options;
    const since = head();
    const fromBlock = prng.below(3) === 0 ? undefined : 1 + prng.below(since + 3);
    if (socket.signals) return this.subscribeSignals(socket.client, since, fromBlock);
    const kind = prng.below(100);
    if (kind < 30) return this.subscribeHeads(socket.client);
    if (kind < 50) return this.subscribeLogs(socket.client, since, kind < 32);
    return this.subscribeTransfers(socket.client, since, fromBlock);
  }

  private subscribeHeads(client: SoakClient): Promise<void> {
    return client.subscribe('eth_subscribe', ['newHeads'], () => new HeadCheck(this.options.onFault));
  }

  /** `all`: logs of every contract instead of one token. */
  private subscribeLogs(client: SoakClient, since: number, all: boolean): Promise<void> {
    const { prng, tokens, onFault } = this.options;
    const address = all ? null : prng.pick(tokens);
    const filter = address === null ? {} : { address };
    return client.subscribe('eth_subscribe', ['logs', filter], () => new LogCheck(address, since, onFault));
  }

  private subscribeTransfers(client: SoakClient, since: number, fromBlock?: number): Promise<void> {
    const address = this.options.prng.pick(this.options.wallets);
    const params = ['wallet_transfers', { address, fromBlock }];
    const check = () => this.transferCheck([address], since, fromBlock, false);
    return client.subscribe('eth_subscribe', params, check);
  }

  private subscribeSignals(client: SoakClient, since: number, fromBlock?: number): Promise<void> {
    const { prng } = this.options;
    const wallets = [...new Set(Array.from({ length: 3 }, () => prng.pick(this.options.wallets)))];
    const check = () => this.transferCheck(wallets, since, fromBlock, true);
    return client.subscribe('atlas_subscribe', { wallets, fromBlock }, check);
  }

  private transferCheck(
    wallets: string[],
    since: number,
    fromBlock: number | undefined,
    signals: boolean,
  ): TransferCheck {
    const options = { wallets, since: fromBlock ?? since, replayed: fromBlock !== undefined, signals };
    return new TransferCheck(options, this.options.onFault);
  }
}
