/** All open WebSocket connections: limits per key, shared memory, liveness checks, and closing. */
import type { KeyStore } from '../../access/keys.ts';
import { ByteBudget } from '../../lib/byte-budget.ts';
import { guarded } from '../../lib/guard.ts';
import {
  CLOSED_BY_OPERATOR,
  CloseCode,
  type CloseFrame,
  KEY_CHANGED,
  KEY_INVALID,
} from '../../streams/close.ts';
import type { Session } from '../../streams/subscription.ts';
import type { WsConnection } from './connection.ts';

/** How often to check the liveness of connections, milliseconds. */
const LIVENESS_CHECK_MS = 1_000;
/** Most bytes of unread answers. */
const MAX_UNSENT_ANSWER_BYTES = 256 * 2 ** 20;

export interface WsConnectionLimits {
  max_connections_per_key: number;
  ping_seconds: number;
  idle_seconds: number;
}

export class WsConnections {
  /** Covers the unread answers of both endpoints. */
  readonly answerBudget = new ByteBudget(MAX_UNSENT_ANSWER_BYTES);
  private readonly limits: WsConnectionLimits;
  private readonly open = new Map<WsConnection, Session>();
  private readonly perHolder = new Map<string | number, number>();
  private readonly livenessTimer: NodeJS.Timeout;
  private readonly unsubscribeKeys: (() => void)[];

  constructor(keys: Pick<KeyStore, 'onInvalidated' | 'onAllowListChanged'>, limits: WsConnectionLimits) {
    this.limits = limits;
    this.livenessTimer = setInterval(
      guarded('liveness of WebSockets', () => this.checkLiveness(performance.now())),
      LIVENESS_CHECK_MS,
    ).unref();
    this.unsubscribeKeys = [
      keys.onInvalidated((ids) => this.closeAll(ids, KEY_INVALID)),
      keys.onAllowListChanged((ids) => this.closeAll(ids, KEY_CHANGED)),
    ];
  }

  /**
   * Whether a holder may open another connection. A holder is a key id, or the address of a visitor to the public
   * explorer.
   */
  admits(holder: string | number): boolean {
    return (this.perHolder.get(holder) ?? 0) < this.limits.max_connections_per_key;
  }

  add(connection: WsConnection, session: Session): void {
    const { holder } = connection;
    this.open.set(connection, session);
    this.perHolder.set(holder, (this.perHolder.get(holder) ?? 0) + 1);
  }

  delete(connection: WsConnection): void {
    if (!this.open.delete(connection)) return;
    const { holder } = connection;
    const left = (this.perHolder.get(holder) ?? 1) - 1;
    if (left === 0) this.perHolder.delete(holder);
    else this.perHolder.set(holder, left);
  }

  /** The open connections, for the operator. */
  list(): LiveSocket[] {
    return [...this.open].map(([{ id, endpoint, keyId, address, openedAt, backlogBytes }, { topics }]) => ({
      id,
      endpoint,
      keyId,
      address,
      openedAt,
      topics,
      backlogBytes,
    }));
  }

  /** Closes one connection for the operator. Returns whether it was open. */
  closeOne(id: number): boolean {
    const connection = [...this.open.keys()].find((open) => open.id === id);
    connection?.close(...CLOSED_BY_OPERATOR);
    return connection !== undefined;
  }

  /** Closes all connections and stops checking them. */
  close(): void {
    clearInterval(this.livenessTimer);
    for (const unsubscribe of this.unsubscribeKeys) unsubscribe();
    for (const connection of this.open.keys()) {
      connection.close(CloseCode.goingAway, 'the server is shutting down');
    }
  }

  private closeAll(keyIds: readonly number[], frame: CloseFrame): void {
    for (const connection of this.open.keys()) {
      if (keyIds.includes(connection.keyId)) connection.close(...frame);
    }
  }

  /** Counts checks, not time: after a stall of the process, what clients sent meanwhile is still to be read. */
  private checkLiveness(now: number): void {
    const { idle_seconds, ping_seconds } = this.limits;
    for (const connection of this.open.keys()) {
      if (++connection.quietChecks * LIVENESS_CHECK_MS > idle_seconds * 1000) {
        connection.close(CloseCode.normal, `idle for ${idle_seconds} s`);
      } else if (now - connection.lastPing > ping_seconds * 1000 - LIVENESS_CHECK_MS / 2)
        connection.ping(now);
    }
  }
}

/** An open WebSocket as shown to the operator. */
export interface LiveSocket {
  /** Unique within this run of the daemon. */
  id: number;
  endpoint: '/ws' | '/ws/signals';
  keyId: number;
  /** The client's IP address. */
  address: string;
  /** Unix milliseconds. */
  openedAt: number;
  /** Topic of each subscription, such as `newHeads` or `wallet_transfers`. */
  topics: readonly string[];
  /** Bytes that the client has not read yet. */
  backlogBytes: number;
}
