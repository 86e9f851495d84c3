/** Memory that all clients share, for what cannot be passed on at once. */

/** What one client holds. */
export interface ClientBudget {
  /** Takes so many bytes, or none and says no. */
  reserve(bytes: number): boolean;
  /** Gives back what was taken. */
  release(bytes: number): void;
}

/** Bytes that a client may hold for each one that stays free: three quarters of all while it is alone, fewer with others. */
const SHARE = 3;

export class ByteBudget {
  private left: number;
  /** By client: all that ever asked. */
  private readonly accounts = new Map<number, ClientBudget>();

  constructor(bytes: number) {
    this.left = bytes;
  }

  /** What a client, by the id of its key, holds of it. */
  forClient(client: number): ClientBudget {
    let account = this.accounts.get(client);
    if (account === undefined) {
      account = this.open();
      this.accounts.set(client, account);
    }
    return account;
  }

  private open(): ClientBudget {
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
