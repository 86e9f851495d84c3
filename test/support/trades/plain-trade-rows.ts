/** The rows of the table `trades` as comparable text, from a plain count of an index's transfers. */
import { dirname } from 'node:path';
import { type ConfiguredTradeLists, newTradeRules } from '../../../src/model/trade-rules.ts';
import { chainOf } from '../../../src/store/chain.ts';
import { readRules } from '../../../src/store/index-rules.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import { blockTimes, type IndexedTransfer, indexedTransfers } from '../index/index-rows.ts';
import { type PlainLeg, PlainTrades } from './plain-trades.ts';

/** A row of a file or table, by column. Legs are JSON text, or values. */
type Row = Record<string, unknown>;

export interface PlainRowRange {
  first?: number | undefined;
  last?: number | undefined;
  lists?: ConfiguredTradeLists | undefined;
}

/** One text per trade, in the order of the chain; those of a transaction by wallet. */
export function plainTradeRows(indexPath: string, { first = 0, last, lists = {} }: PlainRowRange): string[] {
  const folder = dirname(indexPath);
  const times = blockTimes(folder);
  const transfers = indexedTransfers(folder);
  const transactions = new Map<string, IndexedTransfer[]>();
  for (const transfer of transfers) {
    const key = `${transfer.block} ${transfer.hash}`;
    transactions.set(key, [...(transactions.get(key) ?? []), transfer]);
  }
  const { gaps, rules } = factsOf(indexPath, lists);
  const plain = new PlainTrades(transfers, {
    equivalents: rules.nativeEquivalents,
    quotes: rules.quoteTokens,
    sinks: rules.feeSinks,
  });
  const rows = [...plain.byWallet].flatMap(([wallet, trades]) =>
    trades
      .filter(({ block }) => first <= block && block <= (last ?? Number.POSITIVE_INFINITY))
      .map(({ block, hash, kind, given, received, fees, asset, quote }): Row => {
        const all = transactions.get(`${block} ${hash}`) ?? [];
        const [start] = all;
        const legs = (side: readonly PlainLeg[], sign: 1 | -1) =>
          side.map((leg) => plainLeg(leg, movedOf(all, wallet, leg, sign)));
        const [paid, got] = kind === 'buy' ? [given[0], received[0]] : [received[0], given[0]];
        const isPair = quote !== null;
        return {
          first_transfer: start?.id,
          block_number: block,
          block_hash: start?.blockHash,
          block_timestamp: times.get(block),
          tx_hash: hash,
          wallet_address: wallet,
          kind,
          token_type: asset?.standard ?? null,
          token_address: asset?.contract ?? null,
          token_id: asset?.standard === 'erc1155' ? asset.asset.split('#')[1] : null,
          token_amount: isPair ? got?.amount : null,
          quote_type: isPair ? (paid?.standard ?? null) : null,
          quote_address: isPair ? (paid?.contract ?? null) : null,
          quote_amount: isPair ? paid?.amount : null,
          given: legs(given, -1),
          received: legs(received, 1),
          fees: legs(fees, -1),
          uncertain: gaps.some((gap) => gap.first <= block && block <= gap.last),
        };
      }),
  );
  return inChainOrder(rows).map(tradeText);
}

function factsOf(indexPath: string, configured: ConfiguredTradeLists) {
  const db = openDatabase(indexPath, { readonly: true });
  try {
    const wrappedNative = readRules(db)?.wrappedNative ?? [];
    return {
      rules: newTradeRules({ chainId: chainOf(db)?.chainId ?? 0, wrappedNative, configured }),
      gaps: db.prepare<[], { first: number; last: number }>('SELECT first, last FROM block_gaps').all(),
    };
  } finally {
    db.close();
  }
}

/** By the first transfer, then by wallet. */
export function inChainOrder(rows: readonly Row[]): Row[] {
  return rows.toSorted(
    (a, b) =>
      Number(a.first_transfer) - Number(b.first_transfer) ||
      (String(a.wallet_address) < String(b.wallet_address) ? -1 : 1),
  );
}

/** A row as text. Legs are in a normalised order: the program lists them by their first transfers. */
export function tradeText(row: Row): string {
  const fields = Object.entries(row).map(([name, value]) => {
    const isLegs = name === 'given' || name === 'received' || name === 'fees';
    return isLegs ? `[${legTexts(value).join()}]` : String(value);
  });
  return ['trade', ...fields].join(' ');
}

function legTexts(value: unknown): string[] {
  const legs: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  if (!Array.isArray(legs)) throw new TypeError('legs are a list');
  return legs
    .map(({ tokenAddress, amount, tokenIds, count }: Row) => {
      const ids = Array.isArray(tokenIds) ? ` #${[...tokenIds].sort().join('+')}/${count}` : '';
      return `${amount} ${tokenAddress ?? 'native'}${ids}`;
    })
    .sort();
}

/** A leg as `legTexts` reads it. */
function plainLeg({ amount, asset, contract, standard }: PlainLeg, moved: string[]): Row {
  const leg = { tokenAddress: contract, amount: `${amount}` };
  if (standard === 'erc1155') return { ...leg, tokenIds: [asset.split('#')[1]], count: 1 };
  return standard === 'erc721' ? { ...leg, tokenIds: moved.slice(0, 20), count: moved.length } : leg;
}

/** The ids of a collection's NFTs of which the wallet has more (1) or fewer (-1) than before. */
function movedOf(
  transfers: readonly IndexedTransfer[],
  wallet: string,
  { contract }: PlainLeg,
  sign: 1 | -1,
): string[] {
  const counts = new Map<string, number>();
  for (const { kind, token, from, to, tokenId } of transfers) {
    if (kind !== 'erc721' || token !== contract || from === to) continue;
    const change = (to === wallet ? 1 : 0) - (from === wallet ? 1 : 0);
    counts.set(`${tokenId}`, (counts.get(`${tokenId}`) ?? 0) + change * sign);
  }
  return [...counts].filter(([, count]) => count > 0).map(([id]) => id);
}
