/** The JSON records of transfers, and of those that funded a wallet. */
import * as z from 'zod';
import { digitsToBigInt, type Hex } from '../lib/hex.ts';
import { secondsToIso } from '../lib/time.ts';
import { NATIVE_DECIMALS, weiToCoin } from '../lib/units.ts';
import { isNativeKind } from '../model/transfer-kind.ts';
import type { IdRange } from '../query/blocks.ts';
import type { FundingTransfer } from '../query/funding.ts';
import { amountOf, type TransferRow, tokenIdOf, typeOf } from '../query/transfers.ts';
import {
  addressField,
  blockField,
  coinField,
  eventIndexField,
  sourceField,
  timeField,
  txHashField,
  weiField,
} from '../schemas/fields.ts';
import { plainTransferSchema, type transferSchema } from '../schemas/transfers.ts';
import { EXAMPLE_COIN, sampleTransfer, sourceOf } from './fields.ts';

/** A transfer from the wallet's point of view. A self-transfer is `out` unless only incoming ones were requested. */
export function transferRecord(
  row: TransferRow,
  wallet: string,
  requestedDirection: 'in' | 'out' | 'both',
  nativeSymbol: string,
): z.output<typeof transferSchema> {
  const out = `0x${row.from}` === wallet && !(requestedDirection === 'in' && `0x${row.to}` === wallet);
  return Object.assign(plainTransferRecord(row, nativeSymbol), { direction: out ? 'out' : 'in' } as const);
}

export function plainTransferRecord(
  row: TransferRow,
  nativeSymbol: string,
): z.output<typeof plainTransferSchema> {
  const native = isNativeKind(row.kind);
  const record: z.output<typeof plainTransferSchema> = {
    id: row.id,
    blockNumber: row.blockNumber,
    blockHash: `0x${row.blockHash}`,
    txHash: `0x${row.txHash}`,
    transferType: typeOf(row),
    from: `0x${row.from}`,
    to: `0x${row.to}`,
    tokenAddress: native ? null : `0x${row.token}`,
    tokenId: tokenIdOf(row),
    symbol: native ? nativeSymbol : row.symbol,
    decimals: native ? NATIVE_DECIMALS : row.decimals,
    amount: amountOf(row).toString(),
    timestamp: secondsToIso(row.timestamp),
    logIndex: row.logIndex,
    eventIndex: row.eventIndex,
  };
  if (row.uncertain === 1) record.uncertain = true;
  return record;
}

export const examplePlainTransfer = plainTransferRecord(sampleTransfer, EXAMPLE_COIN);

/** The page among `found`, which holds one row more than `limit` if there is a next page; `last` is its cursor then. */
export function pageOf<T>(found: readonly T[], limit: number): { page: T[]; last: T | undefined } {
  const page = found.slice(0, limit);
  return { page, last: found.length > limit ? page.at(-1) : undefined };
}

/** The ids of one page of a range, ascending, after the last id of the previous page. */
export function pageOfRange(
  { from, below }: IdRange,
  after: number | undefined,
  limit: number,
): { ids: number[]; nextCursor: string | null } {
  const first = Math.max(from, (after ?? 0) + 1);
  const ids = Array.from({ length: Math.max(0, Math.min(limit, below - first)) }, (_, i) => first + i);
  const next = first + ids.length;
  return { ids, nextCursor: next < below ? `${next - 1}` : null };
}

export const fundingSchema = z
  .object({
    from: addressField(),
    amount: coinField(),
    amountWei: weiField(),
    txHash: txHashField(),
    eventIndex: eventIndexField(),
    blockNumber: blockField(),
    blockHash: plainTransferSchema.shape.blockHash,
    timestamp: timeField(),
    source: sourceField(),
    uncertain: plainTransferSchema.shape.uncertain,
  })
  .meta({ id: 'Funding' });

/** The member `uncertain` of a record. */
export function uncertainMember({ uncertain }: Pick<TransferRow, 'uncertain'>): { uncertain?: true } {
  return uncertain === 1 ? { uncertain: true } : {};
}

/** `from` is the sender's address. */
export function fundingRecord(row: FundingTransfer, from: Hex): z.output<typeof fundingSchema> {
  const wei = digitsToBigInt(row.amount).toString();
  return {
    from,
    amount: weiToCoin(wei),
    amountWei: wei,
    txHash: `0x${row.txHash}`,
    eventIndex: row.eventIndex,
    blockNumber: row.blockNumber,
    blockHash: `0x${row.blockHash}`,
    timestamp: secondsToIso(row.timestamp),
    source: sourceOf(row.kind),
    ...uncertainMember(row),
  };
}
