/** A node's answers to REST, for a node on the same chain as an index, read from that index by plain SQL. */
import type { NodeReads } from '../../../src/api/node-reads.ts';
import { bytesToHex, hexToBytes } from '../../../src/lib/hex.ts';
import type { BlockRef } from '../../../src/model/block.ts';
import type { Db } from '../../../src/store/open-database.ts';

interface Row {
  number: number;
  hash: Buffer;
}

export function nodeReadsOf(db: Db): NodeReads {
  const find = (where: string, hash: string): BlockRef | null => {
    const row = db
      .prepare<[Uint8Array], Row>(`SELECT number, hash FROM blocks WHERE ${where} ORDER BY number LIMIT 1`)
      .get(hexToBytes(hash));
    return row === undefined ? null : { number: row.number, hash: bytesToHex(row.hash) };
  };
  return {
    blockOfTransaction: async (hash) =>
      find('last_transfer >= (SELECT id FROM transfers WHERE tx = ?)', hash),
    balancesAt: async () => new Map(), // an index has none
    sendersOf: async (transactions) => transactions.map(() => null), // nor these
    blockByHash: async (hash) => find('hash = ?', hash),
  };
}
