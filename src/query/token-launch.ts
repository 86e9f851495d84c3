/** The first holders of a token: how each got it, from which funds, and what it holds. */

import { decodeSigned } from '../lib/signed.ts';
import { prepareIsGap } from '../store/block-gaps.ts';
import { blockNumberSql } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { prepareTransfers } from '../store/read/transfers.ts';
import { DamageError } from '../store/storage-error.ts';
import { prepareBuyersOf } from '../store/tokens/first-buyers.ts';
import { type Acquisition, acquisitionsIn } from '../trades/acquisition.ts';
import type { LaunchBuyer } from '../trades/launch.ts';
import { movedIdsOf } from '../trades/moved-ids.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import { prepareSummedForm } from './balance-history.ts';
import { prepareBlocksOfTransfers } from './blocks.ts';
import { HUB_ABOVE } from './funding.ts';
import { MAX_HISTORY_ROWS } from './reach.ts';
import { prepareTransactionStart } from './transaction-rows.ts';
import { ROW_UNITS } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

export interface FirstHolder extends LaunchBuyer {
  /** Hex digits without prefix. */
  address: string;
  txHash: string;
  /** Unix seconds of its block. */
  timestamp: number;
  /** Hex digits without prefix; null without a first funding. */
  funderAddress: string | null;
  /** The ids of what was paid, hex digits; null for other assets than NFTs. */
  paidIds: string[] | null;
  /** Whether transfers of its transaction are missing, from the index or because there are too many to read. */
  uncertain: boolean;
}

interface WalletRow {
  address: string;
  balance: Buffer;
  funder: number | null;
  funderAddress: string | null;
  funded: number | null;
  /** transfers.id. */
  funding: number | null;
  fundingBlock: number | null;
}

/** The first `limit` holders of a token, in the order in which they got it. */
export function prepareFirstHolders(
  db: Db,
): (token: number, limit: number, ids: TradeIds, budget: WorkBudget) => FirstHolder[] {
  const buyersOf = prepareBuyersOf(db);
  const transfers = prepareTransfers(db);
  const blocksOf = prepareBlocksOfTransfers(db);
  const isGap = prepareIsGap(db);
  const acquisitions = prepareAcquisitions(db);
  const walletsOf = db.prepare<[string, number], WalletRow>(/* sql */ `
    SELECT lower(hex(w.address)) AS address, h.balance, w.funder, lower(hex(f.address)) AS funderAddress,
      f.funded, w.funding, iif(w.funding IS NULL, NULL, ${blockNumberSql('w.funding')}) AS fundingBlock
    FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value
      CROSS JOIN holdings h ON h.token = +? AND h.wallet = w.id LEFT JOIN wallets f ON f.id = w.funder`);
  return (token, limit, ids, budget) => {
    const buyers = buyersOf(token).slice(0, limit);
    const receipts = transfers.byId(buyers.map(({ transfer }) => transfer));
    const blocks = blocksOf(buyers.map(({ transfer }) => transfer));
    const wallets = walletsOf.all(idList(buyers.map(({ wallet }) => wallet)), token);
    if (wallets.length < buyers.length)
      throw new DamageError(`a first holder of token ${token} has no holding`);
    const firsts = receipts.map(({ id, eventIndex }) => id - eventIndex);
    const firstOf = (id: number) => transfers.byId([id]).map(({ eventIndex }) => id - eventIndex)[0];
    const found = acquisitions(
      token,
      buyers.map(({ wallet }, i) => ({ wallet, first: firsts[i]! })),
      ids,
      budget,
    );
    return buyers.map(({ wallet, transfer }, i): FirstHolder => {
      const { number: block, timestamp } = blocks[i]!;
      const { address, balance, funder, funderAddress, funded, funding, fundingBlock } = wallets[i]!;
      const { acquisition, paidIds, isWhole } = found[i]!;
      const isFunded =
        funding !== null &&
        fundingBlock !== null &&
        (funding < transfer || (fundingBlock === block && firstOf(funding) === firsts[i]));
      const uncertain = !isWhole || isGap(block);
      return {
        ...acquisition,
        ...(uncertain && { paid: null }),
        paidIds,
        wallet,
        address,
        block,
        timestamp,
        first: firsts[i]!,
        txHash: receipts[i]!.txHash,
        balance: decodeSigned(balance),
        funder,
        funderAddress: funder === null ? null : funderAddress,
        isHub: (funded ?? 0) > HUB_ABOVE,
        fundingAge: isFunded ? block - fundingBlock : null,
        uncertain,
      };
    });
  };
}

interface Receipt {
  wallet: number;
  /** The first transfer of its transaction. */
  first: number;
}

interface FoundAcquisition {
  acquisition: Acquisition;
  paidIds: string[] | null;
  isWhole: boolean;
}

/** How wallets got a token. Reads MAX_HISTORY_ROWS transfers at most; a transaction beyond that is read in part. */
function prepareAcquisitions(
  db: Db,
): (token: number, receipts: readonly Receipt[], ids: TradeIds, budget: WorkBudget) => FoundAcquisition[] {
  const transactionAt = prepareTransactionStart(db);
  const formOf = prepareSummedForm(db);
  return (token, receipts, ids, budget) => {
    const acquired = { token, form: formOf(token) };
    let left = MAX_HISTORY_ROWS;
    const read = (first: number) => {
      const rows = transactionAt(first, left + 1);
      budget.spend(ROW_UNITS * rows.length);
      const isWhole = rows.length <= left;
      if (!isWhole) rows.length = left;
      left -= rows.length;
      return { first, rows, isWhole, of: acquisitionsIn(rows, acquired, ids) };
    };
    let open: ReturnType<typeof read> | null = null;
    return receipts.map(({ wallet, first }) => {
      if (open?.first !== first) open = read(first);
      const { rows, isWhole, of } = open;
      const acquisition = of(wallet);
      const { paid, payer } = acquisition;
      return { acquisition, paidIds: paid && movedIdsOf(payer ?? wallet, rows).of(paid, -1), isWhole };
    });
  };
}
