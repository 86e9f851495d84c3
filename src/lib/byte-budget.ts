/** A memory budget shared by all clients, for data that cannot be delivered at once. */

/** One client's part of the budget. */
export interface ClientBudget {
  /** Reserves bytes. Returns false, and reserves none, if that exceeds the client's share. */
  reserve(bytes: number): boolean;
  /** Returns reserved bytes. */
  release(bytes: number): void;
  /**
   * Reserves the memory of a piece. Returns false if the budget is exhausted. A piece held several times, such as a
   * cached answer on its way to several sockets, counts once.
   */
  hold(piece: Buffer): boolean;
  /** Ends one `hold` of the piece. */
  letGo(piece: Buffer): void;
}

/** Bytes that a client may hold per free byte: three quarters of the budget when alone, less beside other clients. */
const SHARE = 3;

export class ByteBudget {
  private left: number;
  private readonly maxPerClient: number;
  /** One budget per client seen. Never removed. */
  private readonly budgets = new Map<number, ClientBudget>();

  constructor(bytes: number, maxPerClient = bytes) {
    this.left = bytes;
    this.maxPerClient = maxPerClient;
  }

  /** A client's share, by the id of its key. */
  forClient(client: number): ClientBudget {
    let budget = this.budgets.get(client);
    if (budget === undefined) {
      budget = this.newClient();
      this.budgets.set(client, budget);
    }
    return budget;
  }

  private newClient(): ClientBudget {
    let held = 0;
    /** Number of holds on each piece. */
    const holds = new Map<Buffer, number>();
    const reserve = (bytes: number) => {
      if (held + bytes > Math.min(this.maxPerClient, SHARE * (this.left - bytes))) return false;
      held += bytes;
      this.left -= bytes;
      return true;
    };
    const release = (bytes: number) => {
      held -= bytes;
      this.left += bytes;
    };
    return {
      reserve,
      release,
      hold(piece) {
        const times = holds.get(piece) ?? 0;
        if (times === 0 && !reserve(piece.length)) return false;
        holds.set(piece, times + 1);
        return true;
      },
      letGo(piece) {
        const times = holds.get(piece) ?? 0;
        if (times > 1) return void holds.set(piece, times - 1);
        if (holds.delete(piece)) release(piece.length);
      },
    };
  }
}
