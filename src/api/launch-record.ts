/** The JSON records of a launch, and what their fields mean. Each count is a definition, not a judgement. */
import * as z from 'zod';
import { secondsToIso } from '../lib/time.ts';
import { isSemiFungible } from '../model/transfer-kind.ts';
import type { FirstHolder } from '../query/token-launch.ts';
import type { TokenTradeSums } from '../query/token-trade-sums.ts';
import {
  addressField,
  blockField,
  contractField,
  countField,
  signedField,
  timeField,
  txHashField,
} from '../schemas/fields.ts';
import type { Db } from '../store/open-database.ts';
import { ACQUISITIONS } from '../trades/acquisition.ts';
import { heldShare, type LaunchGroups, type LaunchSummary } from '../trades/launch.ts';
import { averageCostProfit } from '../trades/profit.ts';
import { legOf, legRecord } from '../trades/trade-record.ts';
import { example } from './fields.ts';
import { UNTRACED_REASON } from './profit-record.ts';
import { exampleLeg, legSchema, prepareAssetDisplays } from './trade-record.ts';
import { averageCostProfitField } from './trade-sums-record.ts';

function unitsOf(what: string) {
  return z.string().regex(/^\d+$/).describe(`${what}, in base units of the token, ERC-721 in tokens`);
}

function shareOf(what: string) {
  return z.number().min(0).max(1).nullable().describe(`${what}, from 0 to 1`);
}

function groupField(what: string) {
  return z.int().min(1).nullable().describe(`Number of its group: ${what}. Null if alone`);
}

export const launchBuyerSchema = z
  .object({
    address: addressField(),
    rank: z.int().min(1).describe('1 for the first address that received a non-zero amount'),
    blockNumber: blockField().describe('Block in which it first received a non-zero amount'),
    timestamp: timeField(),
    blocksAfterFirst: countField().describe('Blocks after firstBlock'),
    txHash: txHashField().describe('Of that receipt; how, amount and paid are of the whole transaction'),
    how: z
      .enum(ACQUISITIONS)
      .describe(
        'bought: it gave something for it; bought_for: it gave nothing and got nothing else, the giver of the ' +
          'token got something or it was minted, and another wallet gave something else, none of the token, and ' +
          'got nothing; minted: the zero address gave it; received: otherwise',
      ),
    payer: addressField()
      .nullable()
      .describe('Of bought_for: who paid. Null where several did, and otherwise'),
    amount: unitsOf('What its balance grew by in that transaction; 0 if it passed all of it on'),
    paid: legSchema
      .nullable()
      .describe(
        'What it gave, or its payer for it alone. Null if nothing, several assets or for several wallets, and ' +
          'where uncertain',
      ),
    uncertain: z.boolean().describe('Whether transfers of its block are missing, so that how may be another'),
    balance: signedField().describe('What it holds now by its transfers, in base units'),
    heldShare: shareOf('The lesser of balance and amount, by amount; null if that is 0'),
    sold: z
      .string()
      .regex(/^\d+$/)
      .nullable()
      .describe('Its sales of the token over all quotes, in base units. Null for profitReason'),
    averageCostProfit: averageCostProfitField(),
    funder: addressField().nullable().describe('Who sent it its first native coins'),
    fundingAgeBlocks: countField()
      .nullable()
      .describe('Blocks from that to blockNumber; null if it had none before'),
    contract: contractField(),
    counted: z
      .boolean()
      .describe(
        'Whether groups and summary count it: not if amount is 0 (a router), nor if it was minted or received, ' +
          'and then gave it to a listed buyer and got something for it (a pool)',
      ),
    sameBlock: groupField('same blockNumber'),
    samePayer: groupField('paid for by one wallet, itself included'),
    sameFunder: groupField(
      'same funder, unless that funded over 1,000 wallets first or is labelled exchange, bridge or faucet',
    ),
  })
  .meta({ id: 'LaunchBuyer' });

export const launchSummarySchema = z
  .object({
    counted: countField().describe('Listed wallets that are counted'),
    snipers: countField().describe('bought or bought_for at most sniper_blocks blocks after openBlock'),
    bundles: countField().describe(
      'Sets of at least bundle_wallets wallets that bought or were bought for in one block, connected by ' +
        'samePayer or sameFunder',
    ),
    sameFunderGroups: countField().describe('Groups of sameFunder'),
    insiders: countField().describe(
      'minted or received in a transaction before that of the first buyer; 0 without one',
    ),
    fresh: countField().describe('fundingAgeBlocks is at most fresh_blocks'),
    heldShare: shareOf('Sum of the lesser of balance and amount, by the sum of amounts; null without any'),
    supplyShare: shareOf('Their balances by the supply (token_stats); null if unknown or less'),
  })
  .meta({ id: 'LaunchSummary' });

type BuyerRecord = z.output<typeof launchBuyerSchema>;

/** Why there are no sums of sales of a token; null where there are. */
export function noSalesReason(kind: number, isEquivalent: boolean, isTraced: boolean): string | null {
  if (!isTraced) return UNTRACED_REASON;
  if (isSemiFungible(kind)) return 'trades of ERC-1155 tokens are listed, not summed; see wallet_trades';
  return isEquivalent ? 'it counts as the native coin in trades; see wallet_profit' : null;
}

interface ListedHolder {
  holder: FirstHolder;
  groups: LaunchGroups;
  isCounted: boolean;
  contract: boolean | null;
  /** Null where there are none. */
  trades: TokenTradeSums | null;
}

/** The records of the first holders, in their order. `payers` are addresses by wallets.id. */
export function prepareLaunchBuyers(
  db: Db,
  nativeSymbol: string,
): (
  listed: readonly ListedHolder[],
  firstBlock: number,
  addressOf: (wallet: number) => string,
) => BuyerRecord[] {
  const displays = prepareAssetDisplays(db, nativeSymbol);
  return (listed, firstBlock, addressOf) => {
    const display = displays(listed.flatMap(({ holder: { paid } }) => paid?.token ?? []));
    return listed.map(({ holder, groups, isCounted, contract, trades }, i) => ({
      address: `0x${holder.address}`,
      rank: i + 1,
      blockNumber: holder.block,
      timestamp: secondsToIso(holder.timestamp),
      blocksAfterFirst: holder.block - firstBlock,
      txHash: `0x${holder.txHash}`,
      how: holder.how,
      payer: holder.payer === null ? null : addressOf(holder.payer),
      amount: `${holder.amount}`,
      paid: holder.paid && legRecord(legOf(holder.paid, holder.paidIds), display),
      uncertain: holder.uncertain,
      balance: `${holder.balance}`,
      heldShare: heldShare(holder),
      sold: trades && `${trades.sold}`,
      averageCostProfit: trades && `${averageCostProfit(trades.sums)}`,
      funder: holder.funderAddress === null ? null : `0x${holder.funderAddress}`,
      fundingAgeBlocks: holder.fundingAge,
      contract,
      counted: isCounted,
      ...groups,
    }));
  };
}

export const exampleLaunchBuyer: BuyerRecord = {
  address: example.wallet,
  rank: 1,
  blockNumber: 4711,
  timestamp: example.time,
  blocksAfterFirst: 1,
  txHash: example.txHash,
  how: 'bought',
  payer: null,
  amount: '2500000',
  paid: exampleLeg,
  uncertain: false,
  balance: '1000000',
  heldShare: 0.4,
  sold: '1500000',
  averageCostProfit: '300000000000000000',
  funder: example.funder,
  fundingAgeBlocks: 11,
  contract: false,
  counted: true,
  sameBlock: null,
  samePayer: null,
  sameFunder: null,
};

export const exampleLaunchSummary: LaunchSummary = {
  counted: 1,
  snipers: 1,
  bundles: 0,
  sameFunderGroups: 0,
  insiders: 0,
  fresh: 1,
  heldShare: 0.4,
  supplyShare: 0.00025,
};
