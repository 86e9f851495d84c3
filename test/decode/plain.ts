/** Turns batches into readable rows, and builds node answers by hand, for the decode tests. */

import { BatchBuilder } from '../../src/decode/batch.ts';
import { type BlockParts, decodeBlock } from '../../src/decode/block.ts';
import { type DecodeRules, decodeRules } from '../../src/decode/rules.ts';
import { bytesToBigInt, bytesToHex } from '../../src/lib/hex.ts';
import type { BlockBatch } from '../../src/model/block-batch.ts';
import { newRules } from '../../src/model/index-rules.ts';
import { TRANSFER_KIND_NAMES, TransferKind } from '../../src/model/transfer-kind.ts';

export interface Row {
  kind: string;
  from: string;
  to: string;
  token: string | null;
  amount: bigint;
  id: bigint | null;
  logIndex: number | null;
}

export function rowsOf(batch: BlockBatch): Row[] {
  const address = (i: number): string => bytesToHex(batch.addresses.subarray(i * 20, i * 20 + 20));
  const slice = (bytes: Uint8Array, ends: Uint32Array, i: number): Uint8Array =>
    bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i]);
  return Array.from({ length: batch.transferCount }, (_, i) => {
    const kind = batch.kind[i] ?? 0;
    const hasId = kind === TransferKind.erc721 || kind === TransferKind.erc1155;
    const token = batch.token[i] ?? -1;
    return {
      kind: TRANSFER_KIND_NAMES[kind] ?? '?',
      from: address(batch.from[i] ?? 0),
      to: address(batch.to[i] ?? 0),
      token: token < 0 ? null : address(token),
      amount: kind === TransferKind.erc721 ? 1n : bytesToBigInt(slice(batch.amounts, batch.amountEnd, i)),
      id: hasId ? bytesToBigInt(slice(batch.tokenNumbers, batch.tokenNumberEnd, i)) : null,
      logIndex: (batch.logIndex[i] ?? -1) < 0 ? null : (batch.logIndex[i] ?? null),
    };
  });
}

/** How many logs were skipped, by reason. */
export function skippedIn({ skipped }: BlockBatch): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason, contract, logs } of skipped)
    if (contract === null) counts[reason] = (counts[reason] ?? 0) + logs;
  return counts;
}

/** The rules of a new index of a chain without known contracts, for parts built by hand, which need not agree. */
export const PLAIN_RULES: DecodeRules = {
  ...decodeRules(newRules({ chainId: 0, monad: false, configured: {} })),
  tolerance: { off: ['root_frame', 'status', 'log_index', 'log_order', 'log_place'] },
};
export const BLOCK_HASH = `0x${'b1'.repeat(32)}`;
export const TX_HASH = `0x${'71'.repeat(32)}`;
export const A = `0x${'aa'.repeat(20)}`;
export const B = `0x${'bb'.repeat(20)}`;
export const C = `0x${'cc'.repeat(20)}`;
export const TOKEN = `0x${'70'.repeat(20)}`;

export const word = (value: bigint | number): string => BigInt(value).toString(16).padStart(64, '0');
export const topicOf = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;

export interface PlainLog {
  address?: string;
  topics: string[];
  data: string;
}

interface PlainTx {
  from?: string;
  to?: string | null;
  value?: string;
  input?: string;
  status?: string | null;
  contractAddress?: string | null;
  logs?: PlainLog[];
}

/** A block of one transaction with its receipt, consistent in every hash. */
export function blockOf(tx: PlainTx, trace?: unknown): BlockParts {
  const { status = '0x1', logs = [] } = tx;
  return {
    block: {
      number: '0x5',
      hash: BLOCK_HASH,
      parentHash: `0x${'b0'.repeat(32)}`,
      timestamp: '0x64',
      transactions: [
        {
          hash: TX_HASH,
          from: tx.from ?? A,
          to: tx.to === undefined ? B : tx.to,
          value: tx.value ?? '0x0',
          input: tx.input ?? '0x',
        },
      ],
    },
    receipts: [
      {
        transactionHash: TX_HASH,
        blockHash: BLOCK_HASH,
        gasUsed: '0x5208',
        contractAddress: tx.contractAddress ?? null,
        ...(status === null ? {} : { status }),
        logs: logs.map((log, i) => ({
          address: log.address ?? TOKEN,
          topics: log.topics,
          data: log.data,
          logIndex: `0x${i.toString(16)}`,
        })),
      },
    ],
    traces: trace === undefined ? null : { form: 'tree', value: [{ txHash: TX_HASH, result: trace }] },
  };
}

export function decode(parts: BlockParts, rules: DecodeRules = PLAIN_RULES): BlockBatch {
  const out = new BatchBuilder();
  decodeBlock(out, parts, rules);
  return out.finish(parts.traces !== null);
}
