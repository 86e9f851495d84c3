/** The sender and receiver of a transaction, as far as the index has them. */
import type { Db } from '../store/open-database.ts';
import {
  addressesOfPair,
  type BlockParties,
  type Parties,
  type PartyAddresses,
  prepareBlockParties,
} from '../store/read/transaction-parties.ts';
import type { TransferRow } from './transfers.ts';

export type { Parties } from '../store/read/transaction-parties.ts';

type PartiesRow = Pick<TransferRow, 'id' | 'eventIndex' | 'blockNumber' | 'blockHash'>;

/** Each keeps the blocks read last, so it must not outlive a rollback. */
export interface StoredParties {
  /** Reads what the blocks of these transfers have, in one statement instead of one for each block. */
  load(rows: readonly PartiesRow[]): void;
  /**
   * The parties of the transaction of any of its transfers. Null if they are unknown: the block was indexed by an
   * earlier release, or its node left them out.
   */
  of(row: PartiesRow, transferAt: PartyAddresses['transferAt']): Parties | null;
}

export function prepareStoredParties(
  db: Db,
): (addresses: Pick<PartyAddresses, 'walletAddress' | 'contractOf'>) => StoredParties {
  const partiesOfBlocks = prepareBlockParties(db);
  return ({ walletAddress, contractOf }) => {
    /** By block hash; undefined for a block without stored parties. */
    let blocks = new Map<string, BlockParties | undefined>();
    const load = (rows: readonly PartiesRow[]): void => {
      const numbers = new Map(rows.map(({ blockHash, blockNumber }) => [blockHash, blockNumber]));
      const found = partiesOfBlocks([...numbers.values()]);
      blocks = new Map([...numbers].map(([hash, number]) => [hash, found.get(number)]));
    };
    return {
      load,
      of(row, transferAt) {
        if (!blocks.has(row.blockHash)) load([row]);
        const pair = blocks.get(row.blockHash)?.of(row.id - row.eventIndex) ?? null;
        return pair && addressesOfPair(pair, { transferAt, walletAddress, contractOf });
      },
    };
  };
}
