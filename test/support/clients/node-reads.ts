/** A node's answers to REST, for a node on the same chain as an index, read from that index by plain SQL. */
import type { NodeReads } from '../../../src/api/node-reads.ts';
import type { NodeTransaction } from '../../../src/api/node-transaction.ts';
import { bytesToHex, hexToBytes } from '../../../src/lib/hex.ts';
import type { BlockRef } from '../../../src/model/block.ts';
import type { Db } from '../../../src/store/open-database.ts';

/** A payment of one coin. */
export const PLAIN_PAYMENT: NodeTransaction = {
  status: 'succeeded',
  block: null,
  timestamp: 1_700_000_000,
  from: `0x${'aa'.repeat(20)}`,
  to: `0x${'bb'.repeat(20)}`,
  createdContract: null,
  value: '1000000000000000000',
  nonce: 0,
  type: 2,
  gasLimit: '21000',
  gasUsed: '21000',
  gasPrice: '1000000000',
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
  l1Fee: null,
  input: { hex: '0x', bytes: 0 },
  logs: { first: [], count: 0 },
  replay: null,
};

interface Row {
  number: number;
  hash: Buffer;
}

const BLOCK_OF_TRANSACTION = 'last_transfer >= (SELECT id FROM transfers WHERE tx = ?)';

export function nodeReadsOf(db: Db): NodeReads {
  const find = (where: string, hash: string): BlockRef | null => {
    const row = db
      .prepare<[Uint8Array], Row>(`SELECT number, hash FROM blocks WHERE ${where} ORDER BY number LIMIT 1`)
      .get(hexToBytes(hash));
    return row === undefined ? null : { number: row.number, hash: bytesToHex(row.hash) };
  };
  return {
    blockOfTransaction: async (hash) => find(BLOCK_OF_TRANSACTION, hash),
    transaction: async (hash) => {
      const block = find(BLOCK_OF_TRANSACTION, hash);
      return block && { ...PLAIN_PAYMENT, block };
    },
    balancesAt: async () => new Map(), // an index has none
    sendersOf: async (transactions) => transactions.map(() => null), // nor these
    blockByHash: async (hash) => find('hash = ?', hash),
  };
}
