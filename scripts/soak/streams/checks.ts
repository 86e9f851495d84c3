/** Checks that a subscription's notifications add up. A check follows one subscription and reports faults at once. */

/** Called for each fault in the notifications of a subscription. */
export type OnFault = (fault: string) => void;

/** The final comparison omits this many blocks below the head, because a reorg may be in progress there. */
export const UNSETTLED_BLOCKS = 8;

export interface Check {
  /** A notification's result. */
  onNotification(result: unknown): void;
  /**
   * Compares with the expected state after the subscription has ended. Everything up to `head` must have been notified,
   * and everything up to the last block in any notification.
   */
  verify(head: number, state: ExpectedState): void;
}

/** The final state of the node and the index. */
export interface ExpectedState {
  hashAt(number: number): string | undefined;
  /** `blockHash.logIndex` of the logs of a contract (null: all) in blocks `from .. to`. */
  logs(address: string | null, from: number, to: number): string[];
  /** The eventKey of a wallet's transfers in blocks `from .. to`. */
  transfers(wallet: string, from: number, to: number): string[];
  /** The signalKey of those transfers that are signals. */
  signals(wallet: string, from: number, to: number): string[];
}

interface Head {
  number: string;
  hash: string;
  parentHash: string;
}

export class HeadCheck implements Check {
  private readonly onFault: OnFault;
  /** The chain according to the notifications, without replaced blocks. */
  private readonly chain: { number: number; hash: string }[] = [];
  private readonly hashes = new Set<string>();

  constructor(onFault: OnFault) {
    this.onFault = onFault;
  }

  onNotification(result: unknown): void {
    const { number, hash, parentHash } = result as Head;
    if (this.hashes.has(hash)) this.onFault(`head ${Number(number)} came twice`);
    while (this.chain.length > 0 && this.chain.at(-1)!.number >= Number(number)) {
      this.hashes.delete(this.chain.pop()!.hash);
    }
    const last = this.chain.at(-1);
    // The blocks below the first notified head are unknown here.
    if (last !== undefined && last.hash !== parentHash) {
      this.onFault(`head ${Number(number)} does not follow ${last.number}, the last one sent`);
    }
    this.chain.push({ number: Number(number), hash });
    this.hashes.add(hash);
  }

  verify(head: number, state: ExpectedState): void {
    const last = this.chain.at(-1)?.number ?? head;
    if (last < head - UNSETTLED_BLOCKS) this.onFault(`heads stopped at ${last}, the node is at ${head}`);
    for (const { number, hash } of this.chain) {
      if (number <= head - UNSETTLED_BLOCKS && state.hashAt(number) !== hash)
        this.onFault(`head ${number} is not of the chain`);
    }
  }
}

interface Log {
  blockNumber: string;
  blockHash: string;
  logIndex: string;
  removed?: boolean;
}

export class LogCheck implements Check {
  private readonly onFault: OnFault;
  private readonly address: string | null;
  private readonly since: number;
  private readonly notified = new Map<string, number>();

  /** `since` is at or before the block at which the subscription was answered. */
  constructor(address: string | null, since: number, onFault: OnFault) {
    this.address = address;
    this.since = since;
    this.onFault = onFault;
  }

  onNotification(result: unknown): void {
    const { blockNumber, blockHash, logIndex, removed } = result as Log;
    const key = `${blockHash}.${Number(logIndex)}`;
    if (removed) {
      if (!this.notified.delete(key)) this.onFault(`log ${key} is removed but was never sent`);
    } else if (this.notified.has(key)) this.onFault(`log ${key} came twice`);
    else this.notified.set(key, Number(blockNumber));
  }

  verify(head: number, state: ExpectedState): void {
    const settled = Math.max(head, ...this.notified.values()) - UNSETTLED_BLOCKS;
    const notified = [...this.notified].filter(([, number]) => number <= settled).map(([key]) => key);
    // Which of the first blocks were notified depends on the exact start of the subscription.
    const from = this.since + UNSETTLED_BLOCKS;
    const expected = state.logs(this.address, from, settled);
    const known = new Set(state.logs(this.address, 0, settled));
    for (const key of expected) if (!this.notified.has(key)) this.onFault(`log ${key} was missed`);
    for (const key of notified) if (!known.has(key)) this.onFault(`log ${key} is not of the chain`);
  }
}

interface EventId {
  blockHash: string;
  txHash: string;
  eventIndex: number;
}

interface Transfer extends EventId {
  id: number;
  blockNumber: number;
  direction: string;
  removed?: boolean;
}

/**
 * Distinguishes a transfer from every other one, also across reorgs: the key that the documentation recommends to
 * clients.
 */
export function eventKey({ blockHash, txHash, eventIndex }: EventId): string {
  return `${blockHash}.${txHash}.${eventIndex}`;
}

/** Like `eventKey`, for a signal: a transfer has one per side. */
export function signalKey(event: EventId, direction: string): string {
  return `${eventKey(event)}.${direction}`;
}

export class TransferCheck implements Check {
  private readonly onFault: OnFault;
  private readonly wallets: readonly string[];
  private readonly since: number;
  private readonly replayed: boolean;
  private readonly signals: boolean;
  private readonly notified: { key: string; id: number; block: number }[] = [];
  private readonly keys = new Set<string>();

  /** With `replayed`, expects everything from block `since` on, else from a few blocks after it. */
  constructor(
    {
      wallets,
      since,
      replayed,
      signals,
    }: { wallets: readonly string[]; since: number; replayed: boolean; signals: boolean },
    onFault: OnFault,
  ) {
    this.wallets = wallets;
    this.since = since;
    this.replayed = replayed;
    this.signals = signals;
    this.onFault = onFault;
  }

  onNotification(result: unknown): void {
    const event = result as Transfer;
    const { id, blockNumber, direction, removed } = event;
    const key = this.signals ? signalKey(event, direction) : eventKey(event);
    const last = this.notified.at(-1);
    if (removed) {
      const at = this.keys.delete(key) ? this.notified.findLastIndex((event) => event.key === key) : -1;
      if (at < 0 || last?.id !== id)
        this.onFault(`transfer ${key} is removed, the last one sent is ${last?.key}`);
      else this.notified.splice(at, 1);
      return;
    }
    if (last !== undefined && (last.id > id || (last.id === id && !this.signals))) {
      this.onFault(`transfer ${key} came after ${last.key}`);
    }
    if (this.keys.has(key)) this.onFault(`transfer ${key} came twice`);
    this.keys.add(key);
    this.notified.push({ key, id, block: blockNumber });
  }

  verify(head: number, state: ExpectedState): void {
    const last = this.notified.at(-1);
    const settled = Math.max(head, last?.block ?? 0) - UNSETTLED_BLOCKS;
    const read = this.signals ? state.signals : state.transfers;
    const of = (from: number) => new Set(this.wallets.flatMap((wallet) => read(wallet, from, settled)));
    const notified = new Set(this.notified.filter(({ block }) => block <= settled).map(({ key }) => key));
    for (const key of of(this.replayed ? this.since : this.since + UNSETTLED_BLOCKS)) {
      if (!notified.has(key)) this.onFault(`transfer ${key} was missed, the last one sent is ${last?.key}`);
    }
    const known = of(0);
    for (const key of notified) if (!known.has(key)) this.onFault(`transfer ${key} is not of the index`);
  }
}
