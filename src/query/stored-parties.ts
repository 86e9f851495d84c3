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

/**
 * Reads the parties of the transaction of any of its transfers. Null if they are unknown: the block was indexed by an
 * earlier release, or its node left them out.
 */
type ReadParties = (
  row: Pick<TransferRow, 'id' | 'eventIndex' | 'blockNumber' | 'blockHash'>,
  transferAt: PartyAddresses['transferAt'],
) => Parties | null;

/** Each reader keeps the block read last, so it must not outlive a rollback. */
export function prepareStoredParties(
  db: Db,
): (addresses: Pick<PartyAddresses, 'walletAddress' | 'contractOf'>) => ReadParties {
  const partiesOfBlock = prepareBlockParties(db);
  return ({ walletAddress, contractOf }) => {
    let block: { hash: string; parties: BlockParties | null } | null = null;
    return ({ blockHash, blockNumber, id, eventIndex }, transferAt) => {
      if (block?.hash !== blockHash) block = { hash: blockHash, parties: partiesOfBlock(blockNumber) };
      const pair = block.parties?.of(id - eventIndex) ?? null;
      return pair && addressesOfPair(pair, { transferAt, walletAddress, contractOf });
    };
  };
}
