/** A native transfer that funded a wallet, as answers show it. */
import { z } from 'zod';
import { digitsToBigInt } from '../lib/hex.ts';
import { secondsToIso } from '../lib/time.ts';
import { weiToCoin } from '../lib/units.ts';
import type { FundingTransfer } from '../query/funding.ts';
import type { Hex } from '../types.ts';
import {
  addressField,
  blockField,
  coinField,
  sourceField,
  timeField,
  txHashField,
  weiField,
} from './fields.ts';
import { sourceOf } from './values.ts';

export const fundingSchema = z.object({
  from: addressField(),
  amount: coinField(),
  amountWei: weiField(),
  txHash: txHashField(),
  blockNumber: blockField(),
  timestamp: timeField(),
  source: sourceField(),
});

/** `from` is the address of the sender. */
export function fundingRecord(row: FundingTransfer, from: Hex): z.output<typeof fundingSchema> {
  const wei = digitsToBigInt(row.amount);
  return {
    from,
    amount: weiToCoin(wei),
    amountWei: wei.toString(),
    txHash: `0x${row.txHash}`,
    blockNumber: row.blockNumber,
    timestamp: secondsToIso(row.timestamp),
    source: sourceOf(row.kind),
  };
}
