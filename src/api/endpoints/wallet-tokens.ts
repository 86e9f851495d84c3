/** GET /api/wallet_tokens: the tokens a wallet holds, by its transfers. */
import * as z from 'zod';
import { RequestError } from '../../lib/errors.ts';
import { decodeSigned, isPositive } from '../../lib/signed.ts';
import { secondsToIso } from '../../lib/time.ts';
import { share } from '../../lib/units.ts';
import {
  prepareBlocksOfTransfers,
  prepareIndexedBlock,
  prepareTransferIdsOfBlocks,
} from '../../query/blocks.ts';
import { prepareWalletTokens } from '../../query/holdings.ts';
import { prepareEarlierHoldings } from '../../query/holdings-at.ts';
import { MAX_HISTORY_ROWS } from '../../query/reach.ts';
import { prepareShareSupply } from '../../query/supply.ts';
import { prepareTokenIdByWallet } from '../../query/tokens.ts';
import type { WorkBudget } from '../../query/work-budget.ts';
import {
  addressField,
  blockField,
  countField,
  nextCursorField,
  shareField,
  timeField,
  tokenNameFields,
  tokenTypeField,
} from '../../schemas/fields.ts';
import type { Db } from '../../store/open-database.ts';
import { BALANCE_ACCURACY_NAMES } from '../../store/tokens/balance-accuracy.ts';
import { defineEndpoint } from '../endpoint.ts';
import {
  balanceAccuracy,
  balanceAccuracyField,
  balanceReasonField,
  balanceText,
  example,
  sumsReason,
  tokenType,
} from '../fields.ts';
import { requireReached } from '../node-reads.ts';
import { address, flag, indexedBlock, limit, pageCursor } from '../params.ts';
import { parseSeen, prepareRequireSeen, seenBlock, seenText } from '../seen.ts';
import { pageOf } from '../transfer-record.ts';

const walletTokenSchema = z
  .object({
    tokenAddress: addressField(),
    ...tokenNameFields(),
    type: tokenTypeField(),
    balance: z
      .string()
      .regex(/^-?\d+$/)
      .describe(
        "Sum of the wallet's transfers, in the token's smallest unit; below zero where earlier transfers " +
          'are not indexed',
      ),
    transferCount: countField().describe('Transfers of the token to or from the wallet'),
    lastBlock: blockField(),
    lastSeenAt: timeField(),
    accuracy: balanceAccuracyField(),
    accuracyReason: balanceReasonField(),
    share: shareField()
      .nullable()
      .describe(
        'Part of the supply that the wallet holds; null with block, and where a sum is unreliable, or the ' +
          'supply unknown or less than what the largest holders have',
      ),
  })
  .meta({ id: 'WalletToken' });

const NOT_BOTH = new RequestError(
  400,
  'invalid_parameter',
  'moved_since cannot be combined with block: it lists what the wallet holds now of what it moved since; leave one out',
  'moved_since',
);

export const walletTokens = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_tokens',
  tag: 'wallets',
  list: 'tokens',
  findsNothing: true,
  summary: 'Tokens that a wallet holds, or held after a block, by its transfers; most recently moved first',
  params: {
    address: address(),
    include_zero: flag()
      .default(false)
      .describe('Whether to list every token the wallet ever moved, whatever its balance'),
    token: address().optional().describe('Only this token, whatever its balance'),
    moved_since: seenBlock('must be the asOf of an earlier answer')
      .transform(parseSeen)
      .optional()
      .describe('asOf of an earlier answer. Only tokens that the wallet moved since, whatever their balance'),
    block: indexedBlock()
      .optional()
      .describe(
        'What the wallet held after this block: balances, transfers and last blocks are as of then. Not ' +
          'with moved_since',
      ),
    limit: limit(50, 200),
    cursor: pageCursor(1).optional(),
  },
  response: {
    address: addressField(),
    tokens: z.array(walletTokenSchema),
    truncated: z
      .boolean()
      .describe(
        `Whether more transfers followed block than are read, ${MAX_HISTORY_ROWS} at most and fewer far apart: these ` +
          'are the holdings after fromBlock',
      ),
    fromBlock: blockField().nullable().describe('Null unless truncated'),
    asOf: z
      .string()
      .describe(
        'The last indexed block of this answer, for moved_since. A token that moves between two pages is on neither: ' +
          'after the last page, ask for what moved since the first one',
      ),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { address: example.wallet, limit: '1' },
    response: {
      address: example.wallet,
      tokens: [
        {
          tokenAddress: example.token,
          name: 'Example Dollar',
          symbol: 'EXD',
          decimals: 6,
          type: 'erc20',
          balance: '2500000',
          transferCount: 3,
          lastBlock: 4711,
          lastSeenAt: example.time,
          accuracy: 'exact',
          accuracyReason: null,
          share: 0.0025,
        },
      ],
      truncated: false,
      fromBlock: null,
      asOf: `4711:${example.blockHash}`,
      nextCursor: '90210',
      count: 1,
    },
  },
  prepare({ db, walletIds, maxReorg }) {
    const tokensOf = prepareWalletTokens(db);
    const blocksOf = prepareBlocksOfTransfers(db);
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const requireSeen = prepareRequireSeen(db, maxReorg);
    const tokenOf = prepareTokenIdByWallet(db);
    const shareOf = prepareShare(db);
    const readBlock = prepareIndexedBlock(db);
    const holdingsAt = prepareEarlierHoldings(db);
    return ({ address, include_zero, moved_since, block, limit, cursor, ...params }, { head, budget }) => {
      if (block !== undefined && moved_since !== undefined) throw NOT_BOTH;
      if (block !== undefined) requireReached(block, head, readBlock);
      if (moved_since !== undefined) requireSeen(moved_since, head, 'moved_since');
      const token = params.token === undefined ? undefined : walletIds.withId(params.token, tokenOf);
      const isUnknown = params.token !== undefined && token === undefined;
      const isAny = include_zero || moved_since !== undefined || token !== undefined;
      const wallet = isUnknown ? undefined : walletIds.idOf(address);
      const at =
        block === undefined || wallet === undefined
          ? undefined
          : holdingsAt(wallet, block, head.number, budget);
      const isCut = at !== undefined && at.block !== block;
      const filter = {
        at,
        from: moved_since === undefined ? 1 : idsOfBlocks(moved_since.number + 1, head.number).from,
        below: cursor?.[0] ?? Number.MAX_SAFE_INTEGER,
        token,
        isWanted: isAny ? () => true : isPositive,
        limit: limit + 1, // one more shows whether there is a next page
      };
      const found = wallet === undefined ? [] : tokensOf(wallet, filter, budget);
      const { page, last } = pageOf(found, limit);
      const lasts = blocksOf(page.map(({ lastTransfer }) => lastTransfer));
      budget.spend(page.length);
      const tokens = page.map((token, i) => ({
        tokenAddress: `0x${token.address}`,
        name: token.name,
        symbol: token.symbol,
        decimals: token.decimals,
        type: tokenType(token),
        balance: balanceText(token.balance),
        transferCount: token.ownTransfers,
        lastBlock: lasts[i]!.number,
        lastSeenAt: secondsToIso(lasts[i]!.timestamp),
        accuracy: balanceAccuracy(token, BALANCE_ACCURACY_NAMES[token.accuracy ?? -1] ?? null),
        accuracyReason: sumsReason(token),
        // The supply of an earlier block is not known.
        share: sumsReason(token) === null && block === undefined ? shareOf(token, budget) : null,
      }));
      return {
        address,
        tokens,
        truncated: isCut,
        fromBlock: isCut ? at.block : null,
        asOf: seenText(head),
        nextCursor: last === undefined ? null : `${last.lastTransfer}`,
        count: tokens.length,
      };
    };
  },
});

/** The part of a token's supply in a balance. */
function prepareShare(db: Db): (token: { id: number; balance: Buffer }, budget: WorkBudget) => number | null {
  const supplyOf = prepareShareSupply(db);
  return ({ id, balance }, budget) => {
    const units = decodeSigned(balance);
    const supply = units < 0n ? null : supplyOf(id, budget);
    return supply === null || units > supply ? null : share(units, supply);
  };
}
