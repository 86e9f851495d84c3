/** The rows of the table `trades` (model/trade-columns.ts), from the transfers of whole transactions. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { NATIVE_TYPE, type TradeRow } from '../../model/trade-columns.ts';
import { hasTokenNumber, isSemiFungible, movesOne } from '../../model/transfer-kind.ts';
import { type Asset, type AssetAmount, NATIVE, type PartTransfer } from '../../model/wallet-part.ts';
import { LISTED_IDS, movedIdsOf } from '../../trades/moved-ids.ts';
import { type Trade, tradeOf } from '../../trades/trade.ts';
import { type TradeIds, type TradePart, tradePartsOf } from '../../trades/trade-part.ts';
import { prepareIsGap } from '../block-gaps.ts';
import type { Tip } from '../chain.ts';
import type { Db } from '../open-database.ts';
import { isTwoSided } from '../trades/may-trade.ts';
import type { AddressBook } from './address-book.ts';
import { kindName, type StoredTransfer } from './transfers.ts';

/**
 * Returns the rows of whole transactions in chain order, those of one transaction in the order of the wallets' first
 * transfers. `book` has loaded the transfers, `blockOf` gives their blocks in ascending order.
 */
export function prepareTradeRows(
  db: Db,
  book: AddressBook,
): (transfers: readonly StoredTransfer[], blockOf: (transfer: number) => Tip, ids: TradeIds) => TradeRow[] {
  const isGap = prepareIsGap(db);
  let gap = { block: -1, isGap: false };
  const isUncertain = (block: number): boolean => {
    if (gap.block !== block) gap = { block, isGap: isGap(block) };
    return gap.isGap;
  };
  return (transfers, blockOf, ids) => {
    const rows: TradeRow[] = [];
    const sides = {
      from: transfers.map(({ sender }) => sender),
      to: transfers.map(({ receiver }) => receiver),
    };
    gap = { block: -1, isGap: false };
    for (let start = 0, end = 0; start < transfers.length; start = end) {
      end = endOfTransaction(transfers, start);
      if (!isTwoSided(sides, start, end)) continue;
      const parties = transfers.slice(start, end).map(partTransfer);
      for (const { wallet, part } of tradePartsOf(parties, ids)) {
        const trade = tradeOf(part, ids);
        if (trade === null) continue;
        const first = transfers[start]!;
        const block = blockOf(first.id);
        const uncertain = isUncertain(block.number);
        rows.push(rowOf({ first, block, wallet, part, trade, parties, book, uncertain }));
      }
    }
    return rows;
  };
}

/** Where the transaction that begins at `start` ends. */
export function endOfTransaction(transfers: readonly StoredTransfer[], start: number): number {
  let end = start + 1;
  while (end < transfers.length && transfers[end]?.eventIndex !== 0) end++;
  return end;
}

function partTransfer(transfer: StoredTransfer): PartTransfer {
  const { sender, receiver, kind, token, tokenNumber } = transfer;
  const amount = movesOne(kind) ? 1n : digitsToBigInt(transfer.amount);
  return { from: sender, to: receiver, kind, token, tokenNumber, amount };
}

interface RowSource {
  /** Of the transaction. */
  first: StoredTransfer;
  block: Tip;
  wallet: number;
  part: TradePart;
  trade: Trade;
  parties: readonly PartTransfer[];
  book: AddressBook;
  uncertain: boolean;
}

function rowOf(source: RowSource): TradeRow {
  const { first, block, wallet, part, trade, book, uncertain } = source;
  const { kind, asset, quote } = trade;
  const [paid, got] = kind === 'buy' ? [trade.given, trade.received] : [trade.received, trade.given];
  const quoteLeg = quote === null ? undefined : paid[0];
  const tokenLeg = quote === null ? undefined : got[0];
  const addressOf = (of: Asset | null) =>
    of === null || of.token === NATIVE ? null : contractOf(of.token, book);
  return {
    first_transfer: first.id,
    block_number: block.number,
    block_hash: block.hash,
    block_timestamp: block.timestamp,
    tx_hash: `0x${first.txHash}`,
    wallet_address: book.hex(book.wallets.of(wallet)),
    kind,
    token_type: typeOf(asset),
    token_address: addressOf(asset),
    token_id:
      asset !== null && isSemiFungible(asset.kind) ? digitsToBigInt(asset.tokenNumber).toString() : null,
    token_amount: tokenLeg?.amount.toString() ?? null,
    quote_type: typeOf(quoteLeg ?? null),
    quote_address: addressOf(quoteLeg ?? null),
    quote_amount: quoteLeg?.amount.toString() ?? null,
    given: legsText(trade.given, -1, source),
    received: legsText(trade.received, 1, source),
    fees: legsText(part.fees(), -1, source),
    uncertain,
  };
}

function typeOf(asset: Asset | null): string | null {
  if (asset === null) return null;
  return asset.token === NATIVE ? NATIVE_TYPE : kindName(asset.kind);
}

/** JSON by hand, because these texts are the larger part of a row and none of their values needs escaping. */
function legsText(
  legs: readonly AssetAmount[],
  sign: 1 | -1,
  { wallet, parties, book }: Pick<RowSource, 'wallet' | 'parties' | 'book'>,
): string {
  let text = '[';
  for (const leg of legs) {
    if (text.length > 1) text += ',';
    text += '{"tokenAddress":';
    text += leg.token === NATIVE ? 'null' : `"${contractOf(leg.token, book)}"`;
    text += `,"amount":"${leg.amount}"`;
    if (hasTokenNumber(leg.kind)) text += idsText(movedIdsOf(wallet, parties).of(leg, sign) ?? []);
    text += '}';
  }
  return `${text}]`;
}

function idsText(ids: readonly string[]): string {
  const listed = ids.slice(0, LISTED_IDS).map((digits) => `"${digitsToBigInt(digits)}"`);
  return `,"tokenIds":[${listed.join()}],"count":${ids.length}`;
}

function contractOf(token: number, book: AddressBook): string {
  return book.hex(book.tokens.of(token));
}
