/**
 * Matches traces with their transactions, where the answer about the block does not have one per transaction in order.
 */
import { UpstreamError } from '../lib/errors.ts';
import { previewValue } from '../lib/text.ts';
import { isList, isNone, readArray, readItems, readObject } from './read-json.ts';
import {
  type BlockTraces,
  flatLists,
  flatTrace,
  objectIn,
  rootFrame,
  tracedHash,
  treeTrace,
} from './traces.ts';

/** What an answer about a block has of each transaction, in their order. */
export interface ArrangedTraces {
  /** For a call tree the item, for flat traces their list; null if missing. */
  perTransaction: unknown[];
  /** The error in place of a trace, null if there is none. */
  errors: (string | null)[];
}

/**
 * Traces in any order by their transactions' hashes. Throws UpstreamError `inconsistent` for those of another block.
 */
export function arrangeTraces(
  form: 'tree' | 'flat',
  value: unknown,
  txHashes: readonly string[],
  blockHash: string,
): ArrangedTraces {
  return form === 'tree' ? arrangeTrees(value, txHashes) : arrangeFlat(value, txHashes, blockHash);
}

/** Trees without hashes are in the order of the transactions, and useless if their number differs. */
function arrangeTrees(value: unknown, txHashes: readonly string[]): ArrangedTraces {
  const items = isList(value) ? readItems(value, 'list of call trees') : [];
  const perTransaction: unknown[] = txHashes.map(() => null);
  const errors: (string | null)[] = txHashes.map(() => null);
  const places = Map.groupBy(txHashes.keys(), (i) => txHashes[i]!);
  const placesOf = (hash: unknown) => (typeof hash === 'string' ? places.get(hash.toLowerCase()) : undefined);
  let foreign: unknown = null;
  for (let i = 0; i < items.length; i++) {
    const item = objectIn(items, i);
    const { error } = item;
    const txHash = tracedHash(item);
    if (isNone(txHash) && items.length !== txHashes.length) continue;
    const place = isNone(txHash) ? i : placesOf(txHash)?.shift();
    if (place === undefined) {
      foreign ??= txHash;
      continue;
    }
    if (rootFrame(item) !== null) perTransaction[place] = item;
    errors[place] = typeof error === 'string' && error !== '' ? error : null;
  }
  // Beside all of the block's own transactions, such as a state sync that the block does not list.
  if (foreign !== null && perTransaction.includes(null))
    throw new UpstreamError(
      'inconsistent',
      `the node traced ${previewValue(foreign)}, which is not in the block`,
    );
  return { perTransaction, errors };
}

function arrangeFlat(value: unknown, txHashes: readonly string[], blockHash: string): ArrangedTraces {
  const lists = flatLists(value, txHashes, blockHash, []);
  return {
    perTransaction: lists.map((traces) => (traces.length === 0 ? null : traces)),
    errors: txHashes.map(() => null),
  };
}

/** Traces as `arrangeTraces` returns them, with those that were fetched alone. */
export function arrangedTraces(
  form: 'tree' | 'flat',
  perTransaction: readonly unknown[],
  txHashes: readonly string[],
): BlockTraces {
  return {
    at(index) {
      const found = perTransaction[index] ?? null;
      if (found === null) return null;
      return form === 'tree'
        ? treeTrace(found, txHashes[index]!)
        : flatTrace(readArray(found, 'traces').map((each) => readObject(each, 'trace')));
    },
  };
}
