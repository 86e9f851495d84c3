/** The JSON record of a transfer. */
import { z } from 'zod';
import { secondsToIso } from '../lib/time.ts';
import { NATIVE_DECIMALS } from '../lib/units.ts';
import { isNativeKind } from '../model/transfer-kind.ts';
import { amountOf, kindName, type TransferRow, tokenIdOf } from '../query/transfers.ts';
import {
  addressField,
  blockField,
  eventIndexField,
  kindField,
  timeField,
  txHashField,
  unitsField,
} from './fields.ts';

export const transferSchema = z.object({
  id: z
    .int()
    .describe(
      'Increases along the chain. Use it as a page cursor, not as a key: after a reorg another transfer may get the same id',
    ),
  blockNumber: blockField(),
  txHash: txHashField(),
  transferType: kindField(),
  from: addressField(),
  to: addressField(),
  tokenAddress: addressField().nullable().describe('Null for native transfers'),
  tokenId: z
    .string()
    .nullable()
    .describe('Decimal token id of an ERC-721 or ERC-1155 transfer, otherwise null'),
  symbol: z.string().nullable().describe('Null while unknown'),
  decimals: z.int().nullable().describe('Null while unknown, and for tokens without decimals'),
  amount: unitsField(),
  direction: z.enum(['in', 'out']),
  timestamp: timeField(),
  logIndex: z
    .int()
    .nullable()
    .describe('Null for native transfers; shared by all items of an ERC-1155 batch'),
  eventIndex: eventIndexField(),
});

/** A transfer from the wallet's point of view. A self-transfer is `out` unless only incoming ones were requested. */
export function transferRecord(
  row: TransferRow,
  wallet: string,
  requestedDirection: 'in' | 'out' | 'both',
  nativeSymbol: string,
): z.output<typeof transferSchema> {
  const native = isNativeKind(row.kind);
  const out = `0x${row.from}` === wallet && !(requestedDirection === 'in' && `0x${row.to}` === wallet);
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
    timestamp: secondsToIso(row.timestamp),
    logIndex: row.logIndex,
    eventIndex: row.eventIndex,
  };
}
