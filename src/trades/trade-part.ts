/**
 * A wallet's part in a transaction as trades see it: the net changes of its balances (model/wallet-part.ts), where the
 * native coin and its equivalents are one asset and what goes to fee sinks is set apart.
 */
import { isNativeKind, movesOne, TransferKind } from '../model/transfer-kind.ts';
import { type AssetAmount, NATIVE, type PartTransfer, WalletPart } from '../model/wallet-part.ts';

/** The lists of an index (model/trade-rules.ts) by the ids that its transfers use. */
export interface TradeIds {
  /** The id of the zero address among wallets. */
  zero: number;
  /** Ids of wallets. */
  feeSinks: ReadonlySet<number>;
  /** Ids of wallets: the contracts of `nativeEquivalents`, which hold the native coins of others. */
  equivalentContracts: ReadonlySet<number>;
  /** Ids of tokens. */
  nativeEquivalents: ReadonlySet<number>;
  quoteTokens: ReadonlySet<number>;
  /** Whether the first transfer of a token was one of an ERC-20, so that its NFTs only mirror its units (ERC-404). */
  countsUnits(token: number): boolean;
}

/** The net changes of one wallet. Add each transfer of the transaction that has the wallet on a side. */
export class TradePart {
  private readonly wallet: number;
  private readonly ids: TradeIds;
  private readonly exchanged: WalletPart;
  /** Null until the first transfer to or from a fee sink. */
  private paidFees: WalletPart | null = null;

  constructor(wallet: number, ids: TradeIds) {
    this.wallet = wallet;
    this.ids = ids;
    this.exchanged = new WalletPart(wallet);
  }

  add(transfer: PartTransfer): void {
    if (moves(transfer, this.ids)) this.addMoving(transfer);
  }

  /** Adds a transfer that changes a balance. */
  addMoving(transfer: PartTransfer): void {
    const gives = transfer.from === this.wallet;
    const part = this.sideOf(gives ? transfer.to : transfer.from);
    const amount = gives ? -transfer.amount : transfer.amount;
    // One kind for all, so that the asset does not depend on the first transfer.
    if (countsAsNative(transfer, this.ids)) part.change(amount, TransferKind.nativeDirect, NATIVE, '');
    else part.change(amount, transfer.kind, transfer.token, transfer.tokenNumber);
  }

  /** What the wallet gave on balance, in the order of each asset's first transfer. */
  given(): AssetAmount[] {
    return this.exchanged.given();
  }

  /** What the wallet received on balance. */
  received(): AssetAmount[] {
    return this.exchanged.received();
  }

  /** What the wallet gave fee sinks on balance, below zero where it got more from them. */
  fees(): AssetAmount[] {
    if (this.paidFees === null) return [];
    const received = this.paidFees.received().map((fee) => ({ ...fee, amount: -fee.amount }));
    return [...this.paidFees.given(), ...received];
  }

  private sideOf(other: number): WalletPart {
    if (!this.ids.feeSinks.has(other)) return this.exchanged;
    this.paidFees ??= new WalletPart(this.wallet);
    return this.paidFees;
  }
}

/**
 * Whether a transfer changes the balance of an asset that counts. A native coin from the zero address, such as the
 * deposit of an OP stack chain, was sold by nobody.
 */
function moves({ from, to, kind, token, amount }: PartTransfer, ids: TradeIds): boolean {
  if (from === to || amount === 0n) return false;
  if (isNativeKind(kind)) return from !== ids.zero;
  return !movesOne(kind) || !ids.countsUnits(token);
}

function countsAsNative({ kind, token }: PartTransfer, { nativeEquivalents }: TradeIds): boolean {
  return isNativeKind(kind) || (kind === TransferKind.erc20 && nativeEquivalents.has(token));
}

/** What a wallet did in a transaction. */
const GAVE = 1;
const GOT = 2;
const MOVED_TOKEN = 4;

/**
 * The parts of the wallets that gave and got something in a transaction, in the order of their first transfers. Takes
 * time in proportion to the transfers, however many wallets there are. `ofToken`: only of wallets that moved it.
 */
export function tradePartsOf(
  transfers: readonly PartTransfer[],
  ids: TradeIds,
  ofToken: number | null = null,
): { wallet: number; part: TradePart }[] {
  if (transfers.length < 2) return [];
  const moving = transfers.filter((transfer) => moves(transfer, ids));
  const sides = new Map<number, number>();
  for (const { from, to, token } of moving) {
    const moved = ofToken === null || token === ofToken ? MOVED_TOKEN : 0;
    if (from !== ids.zero && !ids.feeSinks.has(to)) sides.set(from, (sides.get(from) ?? 0) | GAVE | moved);
    if (to !== ids.zero && !ids.feeSinks.has(from)) sides.set(to, (sides.get(to) ?? 0) | GOT | moved);
  }
  const parts = new Map<number, TradePart>();
  const found: { wallet: number; part: TradePart }[] = [];
  for (const [wallet, side] of sides) {
    if (side !== (GAVE | GOT | MOVED_TOKEN)) continue;
    const part = new TradePart(wallet, ids);
    parts.set(wallet, part);
    found.push({ wallet, part });
  }
  if (found.length === 0) return found;
  for (const transfer of moving) {
    parts.get(transfer.from)?.addMoving(transfer);
    parts.get(transfer.to)?.addMoving(transfer);
  }
  return found;
}
