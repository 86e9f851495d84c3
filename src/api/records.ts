/** The one place where rows of the index become JSON. Forms of the values: addresses in lower case, amounts as exact decimal text, times in ISO 8601. */
import { z } from 'zod';
import { digitsToBigInt } from '../lib/hex.ts';
import { isoSeconds } from '../lib/time.ts';
import { NATIVE_DECIMALS, weiToCoin } from '../lib/units.ts';
import type { FundingTransfer } from '../query/funding.ts';
import { amountOf, kindName, tokenIdOf } from '../query/transfer-values.ts';
import type { TransferRow } from '../query/transfers.ts';
import type { WalletFacts, WalletSummary } from '../query/wallets.ts';
import { type Hex, isNative } from '../types.ts';
import {
  addressField,
  blockField,
  coinField,
  countField,
  kindField,
  sourceField,
  timeField,
  txHashField,
  unitsField,
  weiField,
} from './fields.ts';
import { sourceOf } from './values.ts';

export const transferSchema = z.object({
  id: z.int().describe('Grows along the chain; the pagination key'),
  blockNumber: blockField(),
  txHash: txHashField(),
  transferType: kindField(),
  from: addressField(),
  to: addressField(),
  tokenAddress: addressField().nullable().describe('Null for native transfers'),
  tokenId: z.string().nullable().describe('Of ERC-721 and ERC-1155 transfers, a decimal number'),
  symbol: z.string().nullable().describe('Null while unknown'),
  decimals: z.int().nullable().describe('Null while unknown, and where the token has none'),
  amount: unitsField(),
  direction: z.enum(['in', 'out']),
  timestamp: timeField(),
  logIndex: z.int().nullable().describe('Null for native transfers'),
});

/** A transfer as its wallet sees it. A wallet's transfer to itself goes out, unless only incoming ones were `asked` for. */
export function transferRecord(
  row: TransferRow,
  wallet: string,
  asked: 'in' | 'out' | 'both',
  nativeSymbol: string,
): z.output<typeof transferSchema> {
  const native = isNative(row.kind);
  const out = `0x${row.from}` === wallet && !(asked === 'in' && `0x${row.to}` === wallet);
  return {
    id: row.id,
    blockNumber: row.blockNumber,
    txHash: `0x${row.txHash}`,
    transferType: kindName(row.kind),
    from: `0x${row.from}`,
    to: `0x${row.to}`,
    tokenAddress: native ? null : `0x${row.token}`,
    tokenId: tokenIdOf(row),
    symbol: native ? nativeSymbol : row.symbol,
    decimals: native ? NATIVE_DECIMALS : row.decimals,
    amount: amountOf(row).toString(),
    direction: out ? 'out' : 'in',
    timestamp: isoSeconds(row.timestamp),
    logIndex: row.logIndex,
  };
}

export const fundingSchema = z.object({
  from: addressField(),
  amount: coinField(),
  amountWei: weiField(),
  txHash: txHashField(),
  blockNumber: blockField(),
  timestamp: timeField(),
  source: sourceField(),
});

/** A native transfer that funded a wallet. `from` is the address of who sent it. */
export function fundingRecord(row: FundingTransfer, from: Hex): z.output<typeof fundingSchema> {
  const wei = digitsToBigInt(row.amount);
  return {
    from,
    amount: weiToCoin(wei),
    amountWei: wei.toString(),
    txHash: `0x${row.txHash}`,
    blockNumber: row.blockNumber,
    timestamp: isoSeconds(row.timestamp),
    source: sourceOf(row.kind),
  };
}

export const summarySchema = z.object({
  address: addressField(),
  firstSeenBlock: blockField().nullable(),
  lastSeenBlock: blockField().nullable(),
  txCount: countField(),
  uniqueTokens: countField(),
  nativeReceived: coinField(),
  nativeReceivedWei: weiField(),
  nativeSent: coinField(),
  nativeSentWei: weiField(),
  firstFundingSource: addressField().nullable(),
  lastActivity: timeField().nullable(),
});

/** What a wallet did in all; `facts` is undefined for one without transfers, `funder` the address of who funded it. */
export function summaryRecord(
  address: string,
  facts: WalletSummary | undefined,
  funder: Hex | null,
): z.output<typeof summarySchema> {
  const received = digitsToBigInt(facts?.nativeReceived ?? '');
  const sent = digitsToBigInt(facts?.nativeSent ?? '');
  return {
    address,
    firstSeenBlock: facts?.firstBlock ?? null,
    lastSeenBlock: facts?.lastBlock ?? null,
    txCount: facts?.transactions ?? 0,
    uniqueTokens: facts?.tokens ?? 0,
    nativeReceived: weiToCoin(received),
    nativeReceivedWei: received.toString(),
    nativeSent: weiToCoin(sent),
    nativeSentWei: sent.toString(),
    firstFundingSource: funder,
    lastActivity: facts ? isoSeconds(facts.lastTimestamp) : null,
  };
}

export const walletEntrySchema = z.object({
  firstSeenBlock: blockField(),
  lastSeenBlock: blockField(),
  txCount: countField(),
  lastActivity: timeField(),
  firstFunder: addressField().nullable(),
  firstFundingBlock: blockField().nullable(),
});

/** A wallet in the batch answer; `funder` is the address of who funded it. */
export function walletEntry(facts: WalletFacts, funder: Hex | null): z.output<typeof walletEntrySchema> {
  return {
    firstSeenBlock: facts.firstBlock,
    lastSeenBlock: facts.lastBlock,
    txCount: facts.transactions,
    lastActivity: isoSeconds(facts.lastTimestamp),
    firstFunder: funder,
    firstFundingBlock: facts.fundingBlock,
  };
}
