/** A transfer as answers show it. */
import { z } from 'zod';
import { secondsToIso } from '../lib/time.ts';
import { NATIVE_DECIMALS } from '../lib/units.ts';
import { amountOf, kindName, tokenIdOf } from '../query/transfer-values.ts';
import type { TransferRow } from '../query/transfers.ts';
import { isNativeKind } from '../types.ts';
import { addressField, blockField, kindField, timeField, txHashField, unitsField } from './fields.ts';

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

/** A transfer as its wallet sees it. A self-transfer counts as outgoing, unless only incoming ones were requested. */
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
  };
}
