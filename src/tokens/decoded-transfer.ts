/** A stored transfer, decoded for balance checks. */
import { bytesToHex } from '../lib/hex.ts';
import { isNativeKind, movesOne } from '../model/transfer-kind.ts';
import type { CountedTransfer } from '../store/schema.ts';
import { DamageError } from '../store/storage-error.ts';

/** One row of `transfers`. */
export interface DecodedTransfer {
  id: number;
  /** Id of the first transfer of its transaction. */
  transaction: number;
  sender: number;
  receiver: number;
  kind: number;
  token: number | null;
  amount: bigint;
  /** The id of an ERC-721 or ERC-1155 token, hex digits; empty for others. */
  tokenNumber: string;
}

/** A stored amount; zero when null. Converts through hex text, because the store's own conversions are under test. */
export function decodeAmount(bytes: Buffer | null): bigint {
  return bytes === null || bytes.length === 0 ? 0n : BigInt(bytesToHex(bytes));
}

/** Throws DamageError when a value has a type that is never stored. */
export function decodeStored(raw: CountedTransfer): DecodedTransfer {
  const numbers = [raw.sender, raw.receiver, raw.kind, raw.token ?? 0];
  const isWhole =
    numbers.every(Number.isSafeInteger) &&
    [raw.amount, raw.token_number].every((bytes) => bytes === null || Buffer.isBuffer(bytes));
  if (!isWhole) throw new DamageError(`transfer ${raw.id} cannot be decoded`);
  return {
    id: raw.id,
    transaction: typeof raw.tx === 'number' ? raw.id - raw.tx : raw.id,
    sender: raw.sender,
    receiver: raw.receiver,
    kind: raw.kind,
    token: isNativeKind(raw.kind) ? null : raw.token,
    amount: movesOne(raw.kind) ? 1n : decodeAmount(raw.amount),
    tokenNumber: raw.token_number?.toString('hex') ?? '',
  };
}
