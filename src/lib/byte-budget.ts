/** Memory that all clients share, for what cannot be passed on at once. */

/** What one client holds. */
export interface Account {
  /** Takes so many bytes, or none and says no. */
  take(bytes: number): boolean;
  /** Gives back what was taken. */
  give(bytes: number): void;
}

/** Bytes that a client may hold for each one that stays free: three quarters of all while it is alone, fewer with others. */
const SHARE = 3;

export class ByteBudget {
  private left: number;
  /** By client: all that ever asked. */
  private readonly accounts = new Map<number, Account>();

  constructor(bytes: number) {
    this.left = bytes;
  }

  /** What a client, by the id of its key, holds of it. */
  of(client: number): Account {
    let account = this.accounts.get(client);
    if (account === undefined) {
      account = this.open();
      this.accounts.set(client, account);
    }
    return account;
  }

  private open(): Account {
    let held = 0;
    return {
      take: (bytes) => {
        if (held + bytes > SHARE * (this.left - bytes)) return false;
        held += bytes;
        this.left -= bytes;
        return true;
      },
      give: (bytes) => {
        held -= bytes;
        this.left += bytes;
      },
    };
  }
}
