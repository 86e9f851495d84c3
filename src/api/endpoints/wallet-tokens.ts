/** GET /api/wallet_tokens: the tokens a wallet holds, by its transfers. */
import { z } from 'zod';
import { isPositive } from '../../lib/signed.ts';
import { secondsToIso } from '../../lib/time.ts';
import { prepareBlocksOfTransfers } from '../../query/blocks.ts';
import { prepareWalletTokens } from '../../query/holdings.ts';
import {
  addressField,
  blockField,
  countField,
  nextCursorField,
  timeField,
  tokenNameFields,
  tokenTypeField,
} from '../../schemas/fields.ts';
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
import { address, flag, limit, pageCursor } from '../params.ts';
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
        "Sum of the wallet's transfers, in the token's smallest unit; below zero where earlier transfers are not indexed",
      ),
    transferCount: countField().describe('Transfers of the token to or from the wallet'),
    lastBlock: blockField(),
    lastSeenAt: timeField(),
    accuracy: balanceAccuracyField(),
    accuracyReason: balanceReasonField(),
  })
  .meta({ id: 'WalletToken' });

export const walletTokens = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_tokens',
  tag: 'wallets',
  list: 'tokens',
  summary: 'Tokens that a wallet holds by its transfers, most recently moved first',
  params: {
    address: address(),
    include_zero: flag()
      .default(false)
      .describe('Whether to list every token the wallet ever moved, whatever its balance'),
    limit: limit(50, 200),
    cursor: pageCursor(1).optional(),
  },
  response: {
    address: addressField(),
    tokens: z.array(walletTokenSchema),
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
        },
      ],
      nextCursor: '90210',
      count: 1,
    },
  },
  prepare({ db, walletIds }) {
    const tokensOf = prepareWalletTokens(db);
    const blocksOf = prepareBlocksOfTransfers(db);
    return ({ address, include_zero, limit, cursor }, { budget }) => {
      const filter = {
        below: cursor?.[0] ?? Number.MAX_SAFE_INTEGER,
        isWanted: include_zero ? () => true : isPositive,
        limit: limit + 1, // one more shows whether there is a next page
      };
      const found = walletIds.withId(address, (wallet) => tokensOf(wallet, filter, budget)) ?? [];
      const { page, last } = pageOf(found, limit);
      const lasts = blocksOf(page.map(({ lastTransfer }) => lastTransfer));
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
      }));
      return {
        address,
        tokens,
        nextCursor: last === undefined ? null : `${last.lastTransfer}`,
        count: tokens.length,
      };
    };
  },
});
