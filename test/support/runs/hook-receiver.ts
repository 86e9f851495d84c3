/** A real HTTP receiver of webhooks: verifies signatures, stores accepted events, and misbehaves on demand. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { checkHookMessage } from '../clients/openapi.ts';

/** An event as it was delivered. */
export interface Received {
  deliveryId: string;
  withdraws?: string;
  event: string;
  direction: string;
  blockNumber: number;
  blockHash: string;
  txHash: string;
  eventIndex: number;
  wallet: string;
  removed?: true;
  txFrom: string | null;
  [member: string]: unknown;
}

export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** Answers only with a status. */
export const answers =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end();

/** Reads the request and never answers. */
export const hangs: Behaviour = () => undefined;

export class HookReceiver {
  /** Accepted, in order. */
  readonly events: Received[] = [];
  /** The raw bodies of every request, accepted or not. */
  readonly bodies: string[] = [];
  readonly messageIds: string[] = [];
  /** Requests whose signature is wrong. */
  forged = 0;
  /** Verified once it is known. */
  secret = '';
  /** The outcome of the next requests; null means 200. */
  behave: Behaviour | null = null;
  readonly url: string;
  private readonly server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.onRequest(request, response);
    });
  }

  static async start(owner: { after(fn: () => void): void }): Promise<HookReceiver> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    owner.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return new HookReceiver(server);
  }

  /** Ends all connections and refuses new ones. */
  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    this.bodies.push(body);
    this.messageIds.push(String(request.headers['webhook-id']));
    if (!this.isGenuine(body, request)) this.forged++;
    if (this.behave !== null) return this.behave(response, request);
    const message = JSON.parse(body);
    if ('deliveries' in message) checkHookMessage(message);
    this.events.push(...(message.deliveries ?? []));
    response.writeHead(204).end();
  }

  private isGenuine(body: string, { headers }: IncomingMessage): boolean {
    if (this.secret === '') return true;
    try {
      new Webhook(this.secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  }
}

/** The state of a client that stores each event and deletes withdrawn ones. Fails on anything out of order. */
export function keptEvents(events: readonly Received[]): Received[] {
  const kept = new Map<string, Received>();
  for (const event of events) {
    if (event.withdraws === undefined) kept.set(event.deliveryId, event);
    else kept.delete(event.withdraws);
  }
  return [...kept.values()];
}
