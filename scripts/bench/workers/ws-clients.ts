/** The worker that holds many WebSocket connections and records when each gets a message. */
import { WsSocket } from '../load/ws-socket.ts';

interface ClientsSpec {
  url: string;
  /** API key, empty for none. */
  key: string;
  count: number;
  /** Each connection sends one of these, in rotation, and waits for the answer. Empty: sends nothing. */
  subscribe: readonly string[];
}

/** Connections opened at once. */
const OPEN_CONCURRENCY = 50;
/** Longest wait for a message, milliseconds. */
const ARRIVAL_TIMEOUT_MS = 60_000;

class Clients {
  private sockets: WsSocket[] = [];
  /** When each connection got its first message since `arm`, Unix milliseconds with fractions; 0 for none. */
  private arrivals: number[] = [];
  private missing = 0;
  private onAll: () => void = () => undefined;

  async open({ url, key, count, subscribe }: ClientsSpec): Promise<void> {
    const address = new URL(url);
    while (this.sockets.length < count) {
      const first = this.sockets.length;
      const opening = Array.from({ length: Math.min(OPEN_CONCURRENCY, count - first) }, (_, i) =>
        WsSocket.open(address, key, subscribe[(first + i) % subscribe.length] ?? '', () =>
          this.recordArrival(first + i),
        ),
      );
      this.sockets.push(...(await Promise.all(opening)));
    }
  }

  /** Resets all arrivals. */
  arm(): void {
    this.arrivals = this.sockets.map(() => 0);
    this.missing = this.sockets.length;
  }

  /** The arrivals of all connections, once each got a message. Rejects on timeout. */
  async arrived(): Promise<number[]> {
    if (this.missing > 0) {
      await new Promise<void>((resolve, reject) => {
        const fail = () => {
          const { missing, sockets } = this;
          reject(
            new Error(
              `${missing} of ${sockets.length} WebSockets were sent nothing in ${ARRIVAL_TIMEOUT_MS} ms`,
            ),
          );
        };
        const timer = setTimeout(fail, ARRIVAL_TIMEOUT_MS);
        this.onAll = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.arrivals;
  }

  /** The arrivals so far. */
  soFar(): number[] {
    return this.arrivals.filter((at) => at !== 0);
  }

  close(): void {
    for (const socket of this.sockets) socket.close();
    this.sockets = [];
  }

  private recordArrival(i: number): void {
    if (this.arrivals[i] !== 0) return;
    this.arrivals[i] = performance.timeOrigin + performance.now();
    this.missing--;
    if (this.missing === 0) this.onAll();
  }
}

export function wsClientsActions() {
  const clients = new Clients();
  return {
    open: (spec: ClientsSpec): Promise<void> => clients.open(spec),
    arm: (): void => clients.arm(),
    arrived: (): Promise<number[]> => clients.arrived(),
    soFar: (): number[] => clients.soFar(),
    close: (): void => clients.close(),
  };
}

export type WsClientsActions = ReturnType<typeof wsClientsActions>;
