/** Memory that all clients share, for what cannot be passed on at once. */

/** What one client holds. */
export interface ClientBudget {
  /** Reserves so many bytes; false, with none reserved, when that would be too many. */
  reserve(bytes: number): boolean;
  /** Gives back what was reserved. */
  release(bytes: number): void;
}

/** Bytes that a client may hold for each one that stays free: three quarters of all while it is alone, fewer with others. */
const SHARE = 3;

export class ByteBudget {
  private left: number;
  /** By client: all that ever asked. */
  private readonly budgets = new Map<number, ClientBudget>();

  constructor(bytes: number) {
    this.left = bytes;
  }

  /** The share of a client, by the id of its key. */
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
    return {
      reserve: (bytes) => {
        if (held + bytes > SHARE * (this.left - bytes)) return false;
        held += bytes;
        this.left -= bytes;
        return true;
      },
      release: (bytes) => {
        held -= bytes;
        this.left += bytes;
      },
    };
  }
}
