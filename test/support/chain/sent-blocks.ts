/** Random chains in which many transactions are trades, and who sent their transactions. */
import { createHash } from 'node:crypto';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import type { RpcCall, RpcReply } from '../../../src/node/client.ts';
import { type PlainBlock, toBatch } from './random-chain.ts';
import { tradingBlocks } from './trading-chain.ts';

const ZERO = '0'.repeat(40);

/** Blocks with trades, in which a transaction moves value itself once at most, as its first transfer. */
export function sentBlocks(from: number, count: number, parent: string, seed: number): PlainBlock[] {
  const { nativeDirect, nativeInternal } = TransferKind;
  return tradingBlocks(count, seed, from, parent).map((block) => ({
    ...block,
    transactions: block.transactions.map((transaction) => ({
      ...transaction,
      transfers: transaction.transfers.map((transfer, i) =>
        i > 0 && transfer.kind === nativeDirect ? { ...transfer, kind: nativeInternal } : transfer,
      ),
    })),
  }));
}

type Transaction = PlainBlock['transactions'][number];

/** Who sent a transaction: for half of them one of its wallets. */
export function senderOf({ hash, transfers: [first] }: Transaction): string {
  if (first?.kind === TransferKind.nativeDirect && first.from !== ZERO) return first.from;
  const digits = createHash('sha256').update(hash).digest('hex');
  return digits < '8' && first !== undefined ? first.from : digits.slice(0, 40);
}

function receiverOf({ transfers: [first] }: Transaction): string {
  return first?.kind === TransferKind.nativeDirect ? first.to : 'ee'.repeat(20);
}

/** The blocks as the indexer decodes them from a node that names the senders. */
export function sentBatch(blocks: readonly PlainBlock[]): BlockBatch {
  const batch = toBatch(blocks);
  const stored = blocks.flatMap(({ transactions }) =>
    transactions.filter(({ transfers }) => transfers.length > 0),
  );
  const bytes = (of: (transaction: Transaction) => string) =>
    new Uint8Array(Buffer.from(stored.map(of).join(''), 'hex'));
  return { ...batch, txFrom: bytes(senderOf), txTo: bytes(receiverOf) };
}

/** A node that knows the transactions of these blocks, also of those added later. */
export function nodeOf(blocks: readonly PlainBlock[]): {
  batch(calls: readonly RpcCall[]): Promise<RpcReply[]>;
} {
  const find = (hash: unknown) => {
    for (const block of blocks)
      for (const of of block.transactions) if (of.hash === hash) return { of, block };
    return null;
  };
  return {
    async batch(calls) {
      return calls.map(({ params }) => {
        const found = find(params[0]);
        if (found === null) return { result: null };
        const { of, block } = found;
        const [from, to] = [`0x${senderOf(of)}`, `0x${receiverOf(of)}`];
        return { result: { hash: of.hash, blockHash: block.hash, from, to } };
      });
    },
  };
}
