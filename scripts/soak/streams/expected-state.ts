/** The final contents of the index and the chain, read from the index file and from the blocks themselves. */
import { type IndexedTransfer, indexedTransfers, isSignal } from '../../../test/support/index/index-rows.ts';
import { group } from '../../../test/support/model/transfer-model.ts';
import type { GeneratedBlock } from '../../simulator/chain/block.ts';
import { type ExpectedState, eventKey } from './checks.ts';

export function readExpectedState(dataDir: string, blocks: readonly GeneratedBlock[]): ExpectedState {
  const byWallet = group(indexedTransfers(dataDir), ({ from, to }) => new Set([from, to]));
  const logs = blocks.flatMap(logsOf);
  const byNumber = new Map(blocks.map((block) => [block.number, block.hash]));
  const between = (wallet: string, from: number, to: number) =>
    (byWallet.get(wallet) ?? []).filter(({ block }) => block >= from && block <= to);
  return {
    hashAt: (number) => byNumber.get(number),
    logs: (address, from, to) =>
      logs
        .filter(
          (log) => log.block >= from && log.block <= to && (address === null || log.address === address),
        )
        .map(({ key }) => key),
    transfers: (wallet, from, to) => between(wallet, from, to).map(keyOf),
    signals: (wallet, from, to) =>
      between(wallet, from, to)
        .filter(isSignal)
        .map((row) => `${keyOf(row)}.${row.from === wallet ? 'out' : 'in'}`),
  };
}

function keyOf({ blockHash, hash, eventIndex }: IndexedTransfer): string {
  return eventKey({ blockHash, txHash: hash, eventIndex });
}

function logsOf({
  number,
  hash,
  receipts,
}: GeneratedBlock): { block: number; address: string; key: string }[] {
  const parsed: { logs: { address: string; logIndex: string }[] }[] = JSON.parse(receipts);
  return parsed.flatMap(({ logs }) =>
    logs.map(({ address, logIndex }) => ({
      block: number,
      address: address.toLowerCase(),
      key: `${hash}.${Number(logIndex)}`,
    })),
  );
}
