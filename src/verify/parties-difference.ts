/** Compares the senders and receivers of a block's transactions with those that the node names. */
import { bytesToDigits } from '../lib/hex.ts';
import { type BlockBatch, namesParties, packedHash } from '../model/block-batch.ts';
import type { BlockEnd, Tip } from '../store/chain.ts';
import { type Db, oncePerConnection } from '../store/open-database.ts';
import { AddressBook } from '../store/read/address-book.ts';
import { addressesOfPair, prepareBlockParties, walletsOfPair } from '../store/read/transaction-parties.ts';
import { prepareTransfers, type StoredTransfer } from '../store/read/transfers.ts';

const readersOf = oncePerConnection((db) => ({
  parties: prepareBlockParties(db),
  transfers: prepareTransfers(db),
}));

/** Addresses kept of one block. */
const KEPT = { wallets: 1 << 12, tokens: 1 << 10 };

/**
 * The first difference between block `i` of a batch and the indexed block, which ends at `tip`; null when there is
 * none. Transactions whose parties either side leaves out are not compared.
 */
export function partiesDifference(
  db: Db,
  batch: BlockBatch,
  i: number,
  before: BlockEnd,
  tip: Tip,
): string | null {
  const { parties, transfers } = readersOf(db);
  const stored = parties([tip.number]).get(tip.number);
  if (stored === undefined) return null;
  const named = namedParties(batch, i);
  const rows = transfers.range(before.lastTransfer + 1, tip.lastTransfer + 1);
  const firsts = rows.filter(({ eventIndex }) => eventIndex === 0);
  const pairs = firsts.map(({ id }) => stored.of(id));
  const book = new AddressBook(db, KEPT);
  book.load(
    rows,
    pairs.flatMap((pair) => (pair === null ? [] : walletsOfPair(pair))),
  );
  for (const [k, pair] of pairs.entries()) {
    const { id, txHash } = firsts[k]!;
    const right = named.get(txHash);
    if (pair === null || right === undefined) continue;
    const found = addressesOfPair(pair, {
      transferAt: (at) => partyTransfer(rows[id - before.lastTransfer - 1 + at], id),
      walletAddress: (wallet) => book.wallets.find(wallet) ?? '',
      contractOf: (token) => book.tokens.find(token) ?? '',
    });
    const [from, to] = right;
    if (found?.from === from && found.to === to) continue;
    const text = found === null ? 'are not to be read' : `are 0x${found.from} and 0x${found.to}`;
    return (
      `sender and receiver of transaction 0x${txHash} in block ${tip.number} ${text} in the index, and ` +
      `0x${from} and 0x${to} on the node`
    );
  }
  return null;
}

function partyTransfer(row: StoredTransfer | undefined, first: number) {
  return row !== undefined && row.id - row.eventIndex === first ? row : undefined;
}

/** The parties that block `i` of a batch names, as digits, by the digits of the transaction's hash. */
function namedParties(batch: BlockBatch, i: number): Map<string, [from: string, to: string]> {
  const named = new Map<string, [string, string]>();
  const { tx, txHashes, txFrom, txTo, transferEnd } = batch;
  const address = (of: Uint8Array, t: number) => bytesToDigits(of.subarray(t * 20, t * 20 + 20));
  for (let at = i === 0 ? 0 : transferEnd[i - 1]!, last = -1; at < transferEnd[i]!; at++) {
    const t = tx[at]!;
    if (t !== last && namesParties(batch, t))
      named.set(bytesToDigits(packedHash(txHashes, t)), [address(txFrom, t), address(txTo, t)]);
    last = t;
  }
  return named;
}
