/** Compares the result of a transfer subscription with REST. */
import assert from 'node:assert/strict';
import type { TestDaemon } from '../support/daemon/daemon.ts';

/** The fields of a transfer shared by stream and REST. */
export interface Transfer {
  id: number;
  blockNumber: number;
  blockHash: string;
  txHash: string;
  transferType: string;
  from: string;
  to: string;
  tokenAddress: string | null;
  amount: string;
  direction: 'in' | 'out';
  logIndex: number | null;
  eventIndex: number;
  symbol: string | null;
  decimals: number | null;
}

export interface StreamedTransfer extends Transfer {
  assetType: string;
  removed?: true;
}

/** A zero transfer is not a signal, nor is a transfer of a token to oneself. */
export function isSignal({
  amount,
  tokenAddress,
  from,
  to,
}: Pick<Transfer, 'amount' | 'tokenAddress' | 'from' | 'to'>): boolean {
  return amount !== '0' && (tokenAddress === null || from !== to);
}

/** Distinguishes a transfer from every other one of the chain. */
export function eventKey({ txHash, eventIndex }: { txHash: string; eventIndex: number }): string {
  return `${txHash} ${eventIndex}`;
}

/** Distinguishes a signal from every other one of the chain: a transfer has one per side. */
export function signalKey(event: { txHash: string; eventIndex: number; direction: string }): string {
  return `${eventKey(event)} ${event.direction}`;
}

/**
 * The result of a stream after its removals. Fails if the ids do not ascend, or if anything but the newest event is
 * removed: then an event was missed or repeated.
 */
export function remaining<T extends { id: number; removed?: true; direction: string }>(
  results: readonly T[],
): T[] {
  const kept: T[] = [];
  for (const event of results) {
    const last = kept.at(-1);
    if (event.removed) {
      const pushedAt = kept.findLastIndex(
        ({ id, direction }) => id === event.id && direction === event.direction,
      );
      assert.ok(
        pushedAt >= 0 && last?.id === event.id,
        `removed ${event.id}, but the last one is ${last?.id}`,
      );
      kept.splice(pushedAt, 1);
    } else {
      assert.ok(last === undefined || last.id <= event.id, `${event.id} after ${last?.id}`);
      kept.push(event);
    }
  }
  return kept;
}

/** The record that REST would show. */
export function asRecord({ assetType, ...record }: StreamedTransfer): Transfer {
  const kind = record.transferType.startsWith('native') ? 'native' : record.transferType;
  assert.equal(assetType, kind);
  return record;
}

/** Every transfer of a wallet from a block on, oldest first, from all pages of REST. */
export async function transfersOf(served: TestDaemon, address: string, fromBlock = 0): Promise<Transfer[]> {
  const all: Transfer[] = [];
  for (let cursor: number | null = 0; cursor !== null; ) {
    const page: { transfers: Transfer[]; nextCursor: number | null } = await served.get('address_transfers', {
      address,
      limit: 500,
      include_internal: 'true',
      after_block: fromBlock,
      ...(cursor > 0 && { cursor }),
    });
    all.push(...page.transfers);
    cursor = page.nextCursor;
  }
  return all.reverse();
}
