/** What REST answers say about stored values, and the values of its examples. */
import * as z from 'zod';
import { decodeSigned } from '../lib/signed.ts';
import {
  shownKind,
  TOKEN_KIND_NAMES,
  type TokenKindName,
  TransferKind,
  type ViewKind,
} from '../model/transfer-kind.ts';
import type { EventRow } from '../query/events.ts';
import { kindName } from '../query/transfers.ts';
import { DamageError } from '../store/storage-error.ts';
import { BALANCE_ACCURACY_NAMES, type BalanceAccuracyName } from '../store/tokens/balance-accuracy.ts';

/** A stored balance as decimal text. */
export function balanceText(balance: Uint8Array): string {
  return decodeSigned(balance).toString();
}

interface TokenKinds {
  /** Kind of its first transfer. */
  kind: number;
  viewKind: ViewKind;
}

/** The type of a token, named after its view kind or the kind of its transfers. */
export function tokenType(token: TokenKinds): TokenKindName {
  const name = kindName(shownKind(token));
  const type = TOKEN_KIND_NAMES.find((candidate) => candidate === name);
  if (type === undefined) throw new DamageError(`a token has transfers of the kind ${name}`);
  return type;
}

export function sourceOf(kind: number): 'direct' | 'internal' {
  return kind === TransferKind.nativeDirect ? 'direct' : 'internal';
}

/** Values shared by the examples. */
export const example = {
  wallet: '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be',
  other: '0x7a250d5630b4cf539739df2c5dacb4c659f2488d',
  funder: '0x28c6c06298d514db089934071355e5743bf21d60',
  token: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  txHash: '0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b',
  blockHash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  time: '2026-11-21T08:00:00.000Z',
} as const;

/** The native transfer of the examples, from which every document derives its records. */
export const sampleTransfer: EventRow = {
  id: 90210,
  kind: TransferKind.nativeDirect,
  amount: (15n * 10n ** 17n).toString(16),
  tokenNumber: '',
  logIndex: null,
  txHash: example.txHash.slice(2),
  eventIndex: 0,
  blockNumber: 4711,
  blockHash: example.blockHash.slice(2),
  timestamp: Date.parse(example.time) / 1_000,
  uncertain: 0,
  from: example.funder.slice(2),
  to: example.wallet.slice(2),
  token: '',
  symbol: null,
  decimals: null,
  viewKind: null,
};

/** A transfer of 2.5 units of a token. */
export const sampleTokenTransfer: EventRow = {
  ...sampleTransfer,
  kind: TransferKind.erc20,
  amount: (2_500_000).toString(16),
  logIndex: 7,
  eventIndex: 2,
  token: example.token.slice(2),
  symbol: 'EXD',
  decimals: 6,
};

/** The native coin of the examples. */
export const EXAMPLE_COIN = 'MON';

/** An example funding transfer, without its sender. */
export const exampleFunding = {
  amount: '1.5',
  amountWei: '1500000000000000000',
  txHash: example.txHash,
  eventIndex: 0,
  blockNumber: 4711,
  blockHash: example.blockHash,
  timestamp: example.time,
  source: 'direct',
} as const;

/** How well balances summed from transfers match those that the contract reports. */
export function balanceAccuracyField() {
  return z
    .enum(BALANCE_ACCURACY_NAMES)
    .nullable()
    .describe(
      'exact: sampled balances match the contract; partial: transfers before the first indexed block are ' +
        'missing; unreliable: balances change without transfers (rebasing, fee on transfer), or for the reason ' +
        'given; null: not examined yet',
    );
}

/** What speaks against balances summed from transfers, beside samples. */
export function balanceReasonField() {
  return z
    .string()
    .nullable()
    .describe(
      'Why the sums mean nothing: the logs of the token have the form of another type. Null if they do not',
    );
}

/** Why sums over the transfers of a token mean nothing, null if they do. */
export function sumsReason({ kind, viewKind }: TokenKinds): string | null {
  if (viewKind === null || viewKind === kind) return null;
  return viewKind === TransferKind.erc721
    ? 'it logs token ids as an ERC-20 logs amounts, so balances are sums of ids'
    : 'it logs amounts as an ERC-721 logs token ids, so balances are numbers of transfers';
}

/** The accuracy of a token's balances, by an examination if they mean anything. */
export function balanceAccuracy(
  token: TokenKinds,
  examined: BalanceAccuracyName | null,
): BalanceAccuracyName | null {
  return sumsReason(token) === null ? examined : 'unreliable';
}
