/** Trades of a chain whose transfers are known by address, and their counts. */
import { ZERO_ADDRESS } from '../../../src/model/address.ts';
import { FEE_SINKS } from '../../../src/model/known-contracts.ts';
import { isSemiFungible, TransferKind } from '../../../src/model/transfer-kind.ts';
import { NATIVE, type PartTransfer } from '../../../src/model/wallet-part.ts';
import { summedTrade, type Trade, tradesOfTransaction } from '../../../src/trades/trade.ts';
import type { TradeIds } from '../../../src/trades/trade-part.ts';

/** Those of a transaction follow one another. Addresses are in lower case. */
export interface CountedTransfer {
  tx: string;
  kind: number;
  from: string;
  to: string;
  /** Null for native. */
  token: string | null;
  amount: bigint;
  tokenId: bigint | null;
}

interface Coins {
  wrapped: string;
  /** The only quote token. */
  stable: string;
}

/** Finds trades with ids of its own for addresses. NATIVE is the zero address. */
export class ChainTrades {
  private readonly known = new Map<string, number>();
  private readonly addresses: string[] = [];
  private readonly ids: TradeIds;

  constructor({ wrapped, stable }: Coins) {
    this.ids = {
      zero: this.idOf(ZERO_ADDRESS),
      feeSinks: new Set(FEE_SINKS.map((sink) => this.idOf(sink))),
      nativeEquivalents: new Set([this.idOf(wrapped)]),
      equivalentContracts: new Set([this.idOf(wrapped)]),
      quoteTokens: new Set([this.idOf(stable)]),
      countsUnits: () => false, // each token logs one kind
    };
  }

  idOf(address: string): number {
    const id = this.known.get(address) ?? this.addresses.push(address) - 1;
    this.known.set(address, id);
    return id;
  }

  addressOf(id: number): string | undefined {
    return this.addresses[id];
  }

  /** The two-sided parts of each transaction. */
  *of(transfers: readonly CountedTransfer[]): Generator<{ wallet: number; trade: Trade }> {
    let start = 0;
    for (let end = 1; end <= transfers.length; end++) {
      if (transfers[end]?.tx === transfers[start]?.tx) continue;
      yield* tradesOfTransaction(transfers.slice(start, end).map(this.partTransfer), this.ids);
      start = end;
    }
  }

  private readonly partTransfer = (transfer: CountedTransfer): PartTransfer => ({
    kind: transfer.kind,
    from: this.idOf(transfer.from),
    to: this.idOf(transfer.to),
    token: transfer.token === null ? NATIVE : this.idOf(transfer.token),
    tokenNumber: transfer.kind === TransferKind.erc1155 ? String(transfer.tokenId) : '',
    amount: transfer.amount,
  });
}

function emptyCounts() {
  return {
    transfers: 0,
    /** Parts with both a given and a received asset, and those of pools among them. */
    twoSided: 0,
    ofPools: 0,
    buy: 0,
    sell: 0,
    swap: 0,
    mixed: 0,
    /** Buys and sells of ERC-1155 tokens, which no sum contains. */
    semiFungible: 0,
    /** New triples of token, wallet and quote. */
    rows: 0,
  };
}

export class TradeCounter {
  readonly counts = emptyCounts();
  /** By token, wallet and quote the numbers of buys and of sells. */
  readonly rows = new Map<string, { buys: number; sells: number; isOfPool: boolean }>();
  private readonly trades: ChainTrades;
  private readonly pools: ReadonlySet<number>;

  /** `pools`: contracts that hold both assets of a trade. */
  constructor(coins: Coins, pools: Iterable<string>) {
    this.trades = new ChainTrades(coins);
    this.pools = new Set(Array.from(pools, (pool) => this.trades.idOf(pool)));
  }

  add(transfers: readonly CountedTransfer[]): void {
    const { counts } = this;
    counts.transfers += transfers.length;
    for (const { wallet, trade } of this.trades.of(transfers)) {
      const isOfPool = this.pools.has(wallet);
      counts.twoSided++;
      if (isOfPool) counts.ofPools++;
      if (trade.asset !== null && trade.quote !== null && isSemiFungible(trade.asset.kind)) {
        counts.semiFungible++;
        continue;
      }
      counts[trade.kind]++;
      const summed = summedTrade(trade);
      if (summed === null) continue;
      const key = `${summed.token} ${wallet} ${summed.quote}`;
      const row = this.rows.get(key) ?? { buys: 0, sells: 0, isOfPool };
      row[summed.isBuy ? 'buys' : 'sells']++;
      counts.rows += this.rows.has(key) ? 0 : 1;
      this.rows.set(key, row);
    }
  }
}
