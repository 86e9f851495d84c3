/** Counts the trades of a generated chain. */
import { ZERO_ADDRESS } from '../../../src/model/address.ts';
import { FEE_SINKS } from '../../../src/model/known-contracts.ts';
import { isSemiFungible, TransferKind } from '../../../src/model/transfer-kind.ts';
import type { PartTransfer } from '../../../src/model/wallet-part.ts';
import { summedTrade, tradesOfTransaction } from '../../../src/trades/trade.ts';
import type { TradeIds } from '../../../src/trades/trade-part.ts';

/** A transfer, for counting. Those of a transaction follow one another. Addresses are in lower case. */
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

interface ChainContracts {
  wrapped: string;
  stable: string;
  /** Contracts that hold both assets of a trade. */
  pools: Iterable<string>;
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
  private readonly known = new Map<string, number>([[ZERO_ADDRESS, 0]]);
  private readonly ids: TradeIds;
  private readonly pools: ReadonlySet<number>;

  constructor({ wrapped, stable, pools }: ChainContracts) {
    this.pools = new Set(Array.from(pools, (pool) => this.idOf(pool)));
    this.ids = {
      zero: this.idOf(ZERO_ADDRESS),
      feeSinks: new Set(FEE_SINKS.map((sink) => this.idOf(sink))),
      nativeEquivalents: new Set([this.idOf(wrapped)]),
      quoteTokens: new Set([this.idOf(stable)]),
      countsUnits: () => false, // each token logs one kind
    };
  }

  add(transfers: readonly CountedTransfer[]): void {
    let start = 0;
    for (let end = 1; end <= transfers.length; end++) {
      if (transfers[end]?.tx === transfers[start]?.tx) continue;
      this.addTransaction(transfers.slice(start, end));
      start = end;
    }
  }

  private addTransaction(transfers: readonly CountedTransfer[]): void {
    const { counts, ids } = this;
    counts.transfers += transfers.length;
    for (const { wallet, trade } of tradesOfTransaction(transfers.map(this.partTransfer), ids)) {
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

  private readonly partTransfer = (transfer: CountedTransfer): PartTransfer => ({
    kind: transfer.kind,
    from: this.idOf(transfer.from),
    to: this.idOf(transfer.to),
    token: transfer.token === null ? 0 : this.idOf(transfer.token),
    tokenNumber: transfer.kind === TransferKind.erc1155 ? String(transfer.tokenId) : '',
    amount: transfer.amount,
  });

  private idOf(address: string): number {
    const id = this.known.get(address) ?? this.known.size;
    this.known.set(address, id);
    return id;
  }
}
