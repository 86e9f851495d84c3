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
  const anyGap = db.prepare<[], number>('SELECT EXISTS (SELECT 1 FROM block_gaps)').pluck();
  let hasGaps = false;
  let gap = { block: -1, isGap: false };
  const isUncertain = (block: number): boolean => {
    if (!hasGaps) return false;
    if (gap.block !== block) gap = { block, isGap: isGap(block) };
    return gap.isGap;
  };
  return (transfers, blockOf, ids) => {
    const rows: TradeRow[] = [];
    hasGaps = anyGap.get() === 1;
    gap = { block: -1, isGap: false };
    for (let start = 0, end = 0; start < transfers.length; start = end) {
      end = endOfTransaction(transfers, start);
      if (!movesTwoAssets(transfers, start, end)) continue;
      const transaction = transfers.slice(start, end);
      if (!isTwoSided(sidesOf(transaction), 0, transaction.length)) continue;
      const parties = transaction.map(partTransfer);
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

/** Whether the transfers `start..end - 1`, a transaction, may be of more than one asset. */
function movesTwoAssets(transfers: readonly StoredTransfer[], start: number, end: number): boolean {
  const { token, kind } = transfers[start]!;
  if (end - start > 1 && isSemiFungible(kind)) return true;
  for (let other = start + 1; other < end; other++) if (transfers[other]!.token !== token) return true;
  return false;
}

function sidesOf(transfers: readonly StoredTransfer[]) {
  return { from: transfers.map(({ sender }) => sender), to: transfers.map(({ receiver }) => receiver) };
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
  const { kind, asset } = trade;
  const [given, received] = [trade.given.map(withText), trade.received.map(withText)];
  const isPriced = trade.quote !== null;
  const [paid, got] = kind === 'buy' ? [given, received] : [received, given];
  const quote = isPriced ? (paid[0] ?? null) : null;
  const token = isPriced ? (got[0] ?? null) : null;
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
    token_amount: token?.text ?? null,
    quote_type: typeOf(quote),
    quote_address: addressOf(quote),
    quote_amount: quote?.text ?? null,
    given: legsText(given, -1, source),
    received: legsText(received, 1, source),
    fees: legsText(part.fees().map(withText), -1, source),
    uncertain,
  };
}

/** An amount with its decimal text. */
type ShownAmount = AssetAmount & { text: string };

function withText({ kind, token, tokenNumber, amount }: AssetAmount): ShownAmount {
  return { kind, token, tokenNumber, amount, text: amount.toString() };
}

function typeOf(asset: Asset | null): string | null {
  if (asset === null) return null;
  return asset.token === NATIVE ? NATIVE_TYPE : kindName(asset.kind);
}

/** JSON by hand, because these texts are the larger part of a row and none of their values needs escaping. */
function legsText(
  legs: readonly ShownAmount[],
  sign: 1 | -1,
  { wallet, parties, book }: Pick<RowSource, 'wallet' | 'parties' | 'book'>,
): string {
  const texts = legs.map((leg) => {
    const address = leg.token === NATIVE ? 'null' : `"${contractOf(leg.token, book)}"`;
    const ids = hasTokenNumber(leg.kind) ? idsText(movedIdsOf(wallet, parties).of(leg, sign) ?? []) : '';
    return `{"tokenAddress":${address},"amount":"${leg.text}"${ids}}`;
  });
  return `[${texts.join()}]`;
}

function idsText(ids: readonly string[]): string {
  const listed = ids.slice(0, LISTED_IDS).map((digits) => `"${digitsToBigInt(digits)}"`);
  return `,"tokenIds":[${listed.join()}],"count":${ids.length}`;
}

function contractOf(token: number, book: AddressBook): string {
  return book.hex(book.tokens.of(token));
}
