/** GET /api/token_holders: the largest balances of a token, summed from its transfers. */
import * as z from 'zod';
import { decodeSigned, encodeSigned } from '../../lib/signed.ts';
import { share } from '../../lib/units.ts';
import { type Holding, prepareTopHoldings } from '../../query/holdings.ts';
import { prepareShareSupply } from '../../query/supply.ts';
import { prepareBalanceAccuracyName, prepareTokenFacts } from '../../query/tokens.ts';
import { prepareIsContract } from '../../query/wallet-code.ts';
import { prepareWalletsById } from '../../query/wallets.ts';
import type { WorkBudget } from '../../query/work-budget.ts';
import {
  addressField,
  contractField,
  countField,
  nextCursorField,
  shareField,
  unitsField,
} from '../../schemas/fields.ts';
import type { Db } from '../../store/open-database.ts';
import { defineEndpoint } from '../endpoint.ts';
import {
  balanceAccuracy,
  balanceAccuracyField,
  balanceReasonField,
  balanceText,
  example,
  sumsReason,
} from '../fields.ts';
import { address, amountCursor, flag, limit } from '../params.ts';

const holderSchema = z
  .object({
    address: addressField(),
    balance: unitsField(),
    share: shareField()
      .nullable()
      .describe(
        'Its part of the supply; null where the supply is unknown or less than what the largest holders have',
      ),
    contract: contractField(),
  })
  .meta({ id: 'TokenHolder' });

/** Reads of holders for one page, of which all may be contracts. */
const MOST_READS = 5;

export const tokenHolders = defineEndpoint({
  method: 'GET',
  path: '/api/token_holders',
  tag: 'tokens',
  list: 'holders',
  summary: 'The largest holders of a token, with balances computed from its transfers',
  params: {
    token: address(),
    limit: limit(50, 200),
    cursor: amountCursor().optional(),
    include_contracts: flag()
      .default(false)
      .describe(
        'true: also list the holders that are known to be contracts, such as pools and smart accounts',
      ),
  },
  response: {
    token: addressField(),
    symbol: z.string().nullable().describe('Null while unknown'),
    decimals: z.int().nullable().describe('Decimals of all balances; null while unknown'),
    holders: z.array(holderSchema),
    nextCursor: nextCursorField(),
    count: countField(),
    left_out: countField().describe('Contracts left out of this page'),
    estimateQuality: balanceAccuracyField(),
    estimateReason: balanceReasonField(),
  },
  example: {
    params: { token: example.token, limit: '2' },
    response: {
      token: example.token,
      symbol: 'EXD',
      decimals: 6,
      holders: [
        { address: example.other, balance: '2500000000', share: 0.625, contract: false },
        { address: example.wallet, balance: '1000000', share: 0.00025, contract: null },
      ],
      nextCursor: '1000000.90210',
      count: 2,
      left_out: 1,
      estimateQuality: 'exact',
      estimateReason: null,
    },
  },
  prepare({ db, walletIds }) {
    const factsOf = prepareTokenFacts(db);
    const accuracyOf = prepareBalanceAccuracyName(db);
    const supplyOf = prepareShareSupply(db);
    const readHolders = prepareHolders(db);
    const wallets = prepareWalletsById(db);
    return ({ token, limit, cursor, include_contracts }, { budget, unexamined }) => {
      const facts = walletIds.withId(token, factsOf);
      const after = cursor && { balance: Buffer.from(encodeSigned(cursor.amount)), wallet: cursor.id };
      const found = facts && readHolders(facts, { limit, after, withContracts: include_contracts }, budget);
      const top = found?.holders ?? [];
      for (const { wallet, contract } of top) if (contract === null) unexamined.push(wallet);
      const supply = facts ? supplyOf(facts.id, budget) : null;
      const owners = wallets(top.map(({ wallet }) => wallet));
      const holders = top.map(({ balance, contract }, i) => {
        const units = decodeSigned(balance);
        const part = supply === null || units > supply ? null : share(units, supply);
        return { address: `0x${owners[i]!.address}`, balance: units.toString(), share: part, contract };
      });
      const last = found?.last ?? null;
      const estimateQuality = facts ? balanceAccuracy(facts, accuracyOf(facts.id)) : null;
      return {
        token,
        symbol: facts?.symbol ?? null,
        decimals: facts?.decimals ?? null,
        holders,
        nextCursor: last && `${balanceText(last.balance)}.${last.wallet}`,
        count: holders.length,
        left_out: found?.leftOut ?? 0,
        estimateQuality,
        estimateReason: facts ? sumsReason(facts) : null,
      };
    };
  },
});

interface HolderPage {
  holders: (Holding & { contract: boolean | null })[];
  /** Contracts passed over before the end of the page. */
  leftOut: number;
  /** Where the page ends, null if nothing follows. */
  last: Holding | null;
}

/** A page of holders, without those known to be contracts unless they are wanted. */
function prepareHolders(db: Db) {
  const largest = prepareTopHoldings(db);
  const isContract = prepareIsContract(db);
  return (
    token: { id: number; wallets: number },
    { limit, after, withContracts }: { limit: number; after?: Holding | undefined; withContracts: boolean },
    budget: WorkBudget,
  ): HolderPage => {
    const holders: HolderPage['holders'] = [];
    let last = after ?? null;
    let leftOut = 0;
    for (let reads = 0; reads < MOST_READS; reads++) {
      const found = largest(token, limit + 1, budget, last ?? undefined); // one more shows whether more follows
      const codes = isContract(found.map(({ wallet }) => wallet));
      for (const [i, holding] of found.entries()) {
        if (holders.length === limit) return { holders, leftOut, last };
        const contract = codes[i] ?? null;
        if (contract === true && !withContracts) leftOut++;
        else holders.push({ ...holding, contract });
        last = holding;
      }
      if (found.length <= limit) return { holders, leftOut, last: null };
    }
    return { holders, leftOut, last };
  };
}
