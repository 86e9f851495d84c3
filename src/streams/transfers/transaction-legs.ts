/** Each wallet's part in one transaction, derived from the transaction's transfers. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import type { TransactionTransfer } from '../../query/transfers.ts';

/** Most transfers of a transaction that are examined. Events of a larger transaction do not say what was exchanged. */
export const MAX_LEGS = 1_000;

/** A sum of one token, or of the native coin if `token` is empty. ERC-721 counts tokens, ERC-1155 sums over ids. */
export interface Payment {
  token: string;
  amount: bigint;
}

/** A wallet's part in a transaction. */
interface WalletPart {
  /** The eventIndex of each transfer that is an event of the wallet. */
  events: number[];
  /** Ordered by each token's first transfer. */
  sent: Payment[];
  received: Payment[];
}

const NO_PART: WalletPart = { events: [], sent: [], received: [] };

/** A zero transfer is no event. An ERC-721 transfer has no amount and counts as one token. */
export function movesSomething({ amount, kind }: Pick<TransactionTransfer, 'amount' | 'kind'>): boolean {
  return amount !== '' || kind === TransferKind.erc721;
}

export class TransactionLegs {
  private readonly parts = new Map<string, WalletPart>();

  /** `transfers` are all transfers of the transaction, in chain order. */
  constructor(transfers: readonly TransactionTransfer[]) {
    for (const [eventIndex, transfer] of transfers.entries()) {
      if (!movesSomething(transfer)) continue;
      const { from, to, token, kind, amount } = transfer;
      const units = kind === TransferKind.erc721 ? 1n : digitsToBigInt(amount);
      const sender = this.part(from);
      sender.events.push(eventIndex);
      if (from === to) continue;
      const receiver = this.part(to);
      receiver.events.push(eventIndex);
      addPayment(sender.sent, token, units);
      addPayment(receiver.received, token, units);
    }
  }

  /** The position of a transfer among the wallet's events, from 1, and their number; null if it is no event. */
  placeOf(wallet: string, eventIndex: number): { leg: number; legs: number } | null {
    const { events } = this.parts.get(wallet) ?? NO_PART;
    const at = events.indexOf(eventIndex);
    return at < 0 ? null : { leg: at + 1, legs: events.length };
  }

  /** Payments of the wallet to others. */
  sentBy(wallet: string): readonly Payment[] {
    return (this.parts.get(wallet) ?? NO_PART).sent;
  }

  /** Payments of others to the wallet. */
  receivedBy(wallet: string): readonly Payment[] {
    return (this.parts.get(wallet) ?? NO_PART).received;
  }

  private part(wallet: string): WalletPart {
    let part = this.parts.get(wallet);
    if (part === undefined) {
      part = { events: [], sent: [], received: [] };
      this.parts.set(wallet, part);
    }
    return part;
  }
}

function addPayment(payments: Payment[], token: string, amount: bigint): void {
  const known = payments.find((payment) => payment.token === token);
  if (known === undefined) payments.push({ token, amount });
  else known.amount += amount;
}
