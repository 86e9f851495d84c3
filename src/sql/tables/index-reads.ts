/** What the tables of one query read the index with. All of it sees one commit. */
import { FatalError } from '../../lib/errors.ts';
import { prepareBlocksInTime } from '../../query/block-times.ts';
import { prepareTransferIdsOfTransaction } from '../../query/blocks.ts';
import { preparePages } from '../../query/history-pages.ts';
import { prepareTokenHistoryEnd } from '../../query/token-history.ts';
import { prepareTokenIdByWallet, prepareTokenIdsBySymbol, prepareTokenSymbols } from '../../query/tokens.ts';
import { prepareHistoryPages } from '../../query/wallet-history-pages.ts';
import { prepareWalletIdByAddress } from '../../query/wallets.ts';
import type { WorkBudget } from '../../query/work-budget.ts';
import { chainOf, prepareLastBlock, type Tip } from '../../store/chain.ts';
import { type Db, highest } from '../../store/open-database.ts';
import { PageCursor } from '../../store/paged-history.ts';
import { AddressBook } from '../../store/read/address-book.ts';
import { prepareBlocks } from '../../store/read/blocks.ts';
import { prepareTransfers } from '../../store/read/transfers.ts';
import { TOKEN_HISTORY } from '../../store/tokens/token-history.ts';

/** The process has a time limit instead. */
export const NO_BUDGET: WorkBudget = { ensure: () => undefined, spend: () => undefined };

/** The end of the index in the commit that a query reads. */
export interface IndexEnd extends Tip {
  startBlock: number;
}

export type IndexReads = ReturnType<typeof prepareIndexReads>;

const BOOK = { wallets: 1 << 16, tokens: 1 << 13, prefix: '0x' } as const;

export function prepareIndexReads(db: Db) {
  const lastBlock = prepareLastBlock(db);
  const walletIdOf = prepareWalletIdByAddress(db);
  const tokenIdByWallet = prepareTokenIdByWallet(db);
  const blocks = prepareBlocks(db);
  const symbolsOf = prepareTokenSymbols(db);
  const counts = {
    wallet: db.prepare<[number], number>('SELECT transfers FROM wallets WHERE id = +?').pluck(),
    token: db.prepare<[number], number>('SELECT transfers FROM tokens WHERE id = +?').pluck(),
  };
  const hasFalls = db.prepare<[], number>('SELECT EXISTS (SELECT 1 FROM time_falls)').pluck();
  let end: IndexEnd | null = null;
  let timesAscend = true;
  return {
    db,
    book: new AddressBook(db, BOOK),
    blocks,
    blocksInTime: prepareBlocksInTime(db),
    lastBlock,
    transfers: prepareTransfers(db),
    idsOfTransaction: prepareTransferIdsOfTransaction(db),
    walletPages: prepareHistoryPages(db),
    tokenPages: preparePages(TOKEN_HISTORY, new PageCursor(), db),
    tokenHistoryEnd: prepareTokenHistoryEnd(db),
    walletIdOf,
    /** The id of a contract with transfers. */
    tokenIdOf(address: string): number | undefined {
      const wallet = walletIdOf(address);
      return wallet === undefined ? undefined : tokenIdByWallet(wallet);
    },
    /** The ids of the tokens with a symbol, which any contract may choose. */
    tokenIdsOfSymbol: prepareTokenIdsBySymbol(db),
    /** Symbol and decimals of a token by its contract. */
    tokenByAddress: (address: string) => symbolsOf(address.slice(2)),
    /** The block of a transfer. */
    blockOf(transfer: number): Tip {
      return blocks.of([transfer])[0]!;
    },
    walletTransfers: (wallet: number) => counts.wallet.get(wallet) ?? 0,
    tokenTransfers: (token: number) => counts.token.get(token) ?? 0,
    tokenCount: () => highest(db, 'tokens'),
    /** Call it at the begin of each query, whose transaction it opens. Forgets what another commit may have changed. */
    begin(): IndexEnd {
      const tip = lastBlock();
      const chain = chainOf(db);
      if (tip === null || chain === null)
        throw new FatalError('the index is empty: nothing has been indexed yet');
      if (end !== null && tip.hash !== end.hash) this.book.rollback();
      end = { ...tip, startBlock: chain.startBlock };
      timesAscend = hasFalls.get() === 0;
      return end;
    },
    /** The end that `begin` returned. */
    end(): IndexEnd {
      if (end === null) throw new Error('a table is read before begin()');
      return end;
    },
    /** Whether no block has an earlier time than one before it. */
    timesAscend: () => timesAscend,
  };
}
