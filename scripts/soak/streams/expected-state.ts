/** The final contents of the index and the chain, read from the index file and from the blocks themselves. */

import { openIndexForReading } from '../../../src/store/index-file.ts';
import type { GeneratedBlock } from '../../simulator/chain/block.ts';
import { type ExpectedState, eventKey, signalKey } from './checks.ts';

interface Row {
  id: number;
  block: number;
  blockHash: string;
  txHash: string;
  eventIndex: number;
  sender: string;
  receiver: string;
  silent: 0 | 1;
}

export function readExpectedState(indexPath: string, blocks: readonly GeneratedBlock[]): ExpectedState {
  const rows = readTransfers(indexPath);
  const byWallet = new Map<string, Row[]>();
  for (const row of rows) {
    for (const wallet of new Set([row.sender, row.receiver])) {
      const list = byWallet.get(wallet) ?? [];
      list.push(row);
      byWallet.set(wallet, list);
    }
  }
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
    transfers: (wallet, from, to) => between(wallet, from, to).map(eventKey),
    signals: (wallet, from, to) =>
      between(wallet, from, to)
        .filter(({ silent }) => silent === 0)
        .map((row) => signalKey(row, row.sender === wallet ? 'out' : 'in')),
  };
}

function readTransfers(indexPath: string): Row[] {
  const db = openIndexForReading(indexPath);
  try {
    return db
      .prepare<[], Row>(
        `SELECT t.id, b.number AS block, '0x' || lower(hex(b.hash)) AS blockHash,
          '0x' || lower(hex(iif(typeof(t.tx) = 'blob', t.tx, (SELECT tx FROM transfers
          WHERE id = t.id - t.tx)))) AS txHash,
          iif(typeof(t.tx) = 'blob', 0, t.tx) AS eventIndex,
          '0x' || lower(hex(s.address)) AS sender, '0x' || lower(hex(r.address)) AS receiver,
          (t.kind <> 3 AND length(coalesce(t.amount, '')) = 0) OR (t.token IS NOT NULL
          AND t.sender = t.receiver) AS silent
        FROM transfers t
          JOIN blocks b ON b.number =
            (SELECT number FROM blocks WHERE last_transfer >= t.id ORDER BY last_transfer, number LIMIT 1)
          JOIN wallets s ON s.id = t.sender JOIN wallets r ON r.id = t.receiver ORDER BY t.id`,
      )
      .all();
  } finally {
    db.close();
  }
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
