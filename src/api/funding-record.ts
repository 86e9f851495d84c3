/** The JSON record of a native transfer that funded a wallet. */
import { z } from 'zod';
import { digitsToBigInt, type Hex } from '../lib/hex.ts';
import { secondsToIso } from '../lib/time.ts';
import { weiToCoin } from '../lib/units.ts';
import type { FundingTransfer } from '../query/funding.ts';
import {
  addressField,
  blockField,
  coinField,
  eventIndexField,
  sourceField,
  sourceOf,
  timeField,
  txHashField,
  weiField,
} from './fields.ts';

export const fundingSchema = z
  .object({
    from: addressField(),
    amount: coinField(),
    amountWei: weiField(),
    txHash: txHashField(),
    eventIndex: eventIndexField(),
    blockNumber: blockField(),
    timestamp: timeField(),
    source: sourceField(),
  })
  .meta({ id: 'Funding' });

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
    timestamp: secondsToIso(row.timestamp),
    source: sourceOf(row.kind),
  };
}
