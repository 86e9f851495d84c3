/** Transfers read from the index. */
import type { EventRow } from '../../query/events.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import type { TokenSymbols } from '../../query/tokens.ts';
import type { ChainInfo } from './event-json.ts';
import type { Direction } from './signals.ts';
import { MAX_LEGS, TransactionLegs } from './transaction-legs.ts';
import type { Parties, TransactionParties } from './transaction-parties.ts';
import type { EventSource } from './transfer-event.ts';

interface IndexSourceOptions {
  reads: Pick<StreamReads, 'tokenSymbols' | 'transactionTransfers' | 'firstTransferOf'>;
  parties: Pick<TransactionParties, 'get'>;
  chainInfo: ChainInfo;
}

export class IndexSource implements EventSource {
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
  private readonly options: IndexSourceOptions;
  /** The transaction read last. Its transfers come one after another. */
  private current: { txHash: string; blockHash: string; legs: TransactionLegs | null } | null = null;

  constructor(options: IndexSourceOptions) {
    this.options = options;
    this.chainInfo = options.chainInfo;
    this.tokenFacts = options.reads.tokenSymbols;
  }

  legsOf({ id, eventIndex, txHash, blockHash }: EventRow): TransactionLegs | null {
    const { current } = this;
    if (current?.txHash === txHash && current.blockHash === blockHash) return current.legs;
    const transfers = this.options.reads.transactionTransfers(id - eventIndex, MAX_LEGS);
    const legs = transfers === null ? null : new TransactionLegs(transfers);
    this.current = { txHash, blockHash, legs };
    return legs;
  }

  isFirst({ id, from, to }: EventRow, direction: Direction): boolean {
    return this.options.reads.firstTransferOf(direction === 'in' ? to : from) === id;
  }

  partiesOf({ txHash }: EventRow): Parties | null | undefined {
    return this.options.parties.get(txHash);
  }
}
