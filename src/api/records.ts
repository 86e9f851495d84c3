/** The one place where rows of the index become JSON. Forms of the values: addresses in lower case, amounts as exact decimal text, times in ISO 8601. */
import { z } from 'zod';
import { isoSeconds } from '../lib/time.ts';
import { weiToCoin } from '../lib/units.ts';
import type { TransferRow } from '../query/transfers.ts';
import type { WalletFacts } from '../query/wallets.ts';
import { isNative, KIND_NAMES, Kind, type KindName } from '../types.ts';

const NATIVE_DECIMALS = 18;

export const transferSchema = z.object({
  id: z.int(),
  blockNumber: z.int(),
  txHash: z.string(),
  transferType: z.enum(KIND_NAMES),
  from: z.string(),
  to: z.string(),
  tokenAddress: z.string().nullable(),
  tokenId: z.string().nullable(),
  symbol: z.string().nullable(),
  decimals: z.int().nullable(),
  amount: z.string(),
  direction: z.enum(['in', 'out']),
  timestamp: z.string(),
  logIndex: z.int().nullable(),
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
    tokenId: row.kind === Kind.erc721 || row.kind === Kind.erc1155 ? integerText(row.tokenNumber) : null,
    // A token's symbol and decimals are null while unknown; the index holds no token metadata.
    symbol: native ? nativeSymbol : null,
    decimals: native ? NATIVE_DECIMALS : null,
    amount: row.kind === Kind.erc721 ? '1' : integerText(row.amount),
    direction: out ? 'out' : 'in',
    timestamp: isoSeconds(row.timestamp),
    logIndex: row.logIndex,
  };
}

export const fundingSchema = z.object({
  from: z.string(),
  amount: z.string(),
  amountWei: z.string(),
  txHash: z.string(),
  blockNumber: z.int(),
  timestamp: z.string(),
  source: z.enum(['direct', 'internal']),
});

/** A native transfer that funded a wallet. */
export function fundingRecord(row: TransferRow): z.output<typeof fundingSchema> {
  const wei = integer(row.amount);
  return {
    from: `0x${row.from}`,
    amount: weiToCoin(wei),
    amountWei: wei.toString(),
    txHash: `0x${row.txHash}`,
    blockNumber: row.blockNumber,
    timestamp: isoSeconds(row.timestamp),
    source: row.kind === Kind.nativeDirect ? 'direct' : 'internal',
  };
}

export const summarySchema = z.object({
  address: z.string(),
  firstSeenBlock: z.int().nullable(),
  lastSeenBlock: z.int().nullable(),
  txCount: z.int(),
  uniqueTokens: z.int(),
  nativeReceived: z.string(),
  nativeReceivedWei: z.string(),
  nativeSent: z.string(),
  nativeSentWei: z.string(),
  firstFundingSource: z.string().nullable(),
  lastActivity: z.string().nullable(),
});

/** What a wallet did in all; `facts` is undefined for one without transfers. */
export function summaryRecord(
  address: string,
  facts: WalletFacts | undefined,
): z.output<typeof summarySchema> {
  const received = integer(facts?.nativeReceived ?? '');
  const sent = integer(facts?.nativeSent ?? '');
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
    firstFundingSource: facts ? addressOrNull(facts.funder) : null,
    lastActivity: facts ? isoSeconds(facts.lastTimestamp) : null,
  };
}

export const walletEntrySchema = z.object({
  firstSeenBlock: z.int(),
  lastSeenBlock: z.int(),
  txCount: z.int(),
  lastActivity: z.string(),
  firstFunder: z.string().nullable(),
  firstFundingBlock: z.int().nullable(),
});

/** A wallet in the batch answer. */
export function walletEntry(facts: WalletFacts): z.output<typeof walletEntrySchema> {
  return {
    firstSeenBlock: facts.firstBlock,
    lastSeenBlock: facts.lastBlock,
    txCount: facts.transactions,
    lastActivity: isoSeconds(facts.lastTimestamp),
    firstFunder: addressOrNull(facts.funder),
    firstFundingBlock: facts.fundingBlock,
  };
}

function kindName(kind: number): KindName {
  const name = KIND_NAMES[kind];
  if (name === undefined) throw new Error(`the index holds a transfer of the unknown kind ${kind}`);
  return name;
}

/** The integer of big-endian hex digits; none is zero. */
function integer(hexDigits: string): bigint {
  return hexDigits === '' ? 0n : BigInt(`0x${hexDigits}`);
}

function integerText(hexDigits: string): string {
  return integer(hexDigits).toString();
}

function addressOrNull(hexDigits: string): string | null {
  return hexDigits === '' ? null : `0x${hexDigits}`;
}
