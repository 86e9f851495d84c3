/** Writes rows of `trades` to PostgreSQL. */
import { TRADE_COLUMNS, type TradeColumn, type TradeRow } from '../model/trade-columns.ts';
import { CopyRows } from './copy-rows.ts';
import type { Session } from './session.ts';
import type { SinkSource, SinkTip } from './source.ts';

/** A piece ends with the chunk that reaches either limit. It delays the next block at the head. */
const PIECE_TRANSFERS = 20_000;
const PIECE_BLOCKS = 10_000;

interface Piece {
  /** Of the index (model/rewrites.ts). */
  mark: string;
  /** The lists by which trades are told (model/trade-rules.ts). */
  rules: string;
  /** First block of the tables. */
  fromBlock: number;
  first: number;
  last: number;
  /** A block from `last` on that the index must have: then it has those before it as PostgreSQL does. */
  holds: SinkTip;
}

interface WrittenPiece {
  /** The last block. */
  block: number;
  /** Blocks of the tables up to it of which the index lacks transfers. */
  uncertainBlocks: number;
}

/** Writes the trades of blocks whose transfers are in PostgreSQL. */
export class TradeWriter {
  private readonly source: SinkSource;
  private readonly session: Session;

  constructor(source: SinkSource, session: Session) {
    this.source = source;
    this.session = session;
  }

  /** Commits the trades of as many blocks as fit into a piece, in place of any there. Null when a reorg came first. */
  async fill(piece: Piece): Promise<WrittenPiece | null> {
    const rows: Buffer[] = [];
    const block = this.readPiece(piece, rows);
    if (block === null) return null;
    const uncertainBlocks = this.source.gapBlocks(piece.fromBlock, block);
    await this.session.writing(async (sql) => {
      await this.session.within(
        sql`DELETE FROM trades WHERE block_number BETWEEN ${piece.first} AND ${block}`,
      );
      if (rows.length > 0) await this.session.copyRows('trades', rows);
      await this.session.within(sql`
        UPDATE sink SET trades_block = ${block}, uncertain_blocks = ${uncertainBlocks}, updated_at = now()`);
    });
    return { block, uncertainBlocks };
  }

  /** Encodes the trades, and returns the last block. */
  private readPiece({ mark, rules, first, last, holds }: Piece, rows: Buffer[]): number | null {
    const out = new CopyRows();
    const tokensUpTo = Number.MAX_SAFE_INTEGER;
    let tip: SinkTip | null = null;
    for (let transfers = 0; transfers < PIECE_TRANSFERS; ) {
      const chunk = this.source.read(tip, { mark, rules, first, last, tokensUpTo, facts: false, holds });
      const end = chunk?.blocks.at(-1);
      if (chunk === null || end === undefined) break;
      for (const trade of chunk.trades) encodeTrade(out, trade);
      if (out.rows > 0) rows.push(out.take());
      transfers += chunk.transfers.length;
      tip = end;
      if (end.number === last || end.number - first >= PIECE_BLOCKS) break;
    }
    return tip?.number ?? null;
  }
}

export function encodeTrade(out: CopyRows, trade: TradeRow): void {
  out.row(TRADE_COLUMNS.length);
  // As members, so that the compiler names a missing column. They are written in this order, that of COLUMNS.
  ({
    first_transfer: out.int8(trade.first_transfer),
    block_number: out.int8(trade.block_number),
    block_hash: out.hex(trade.block_hash, 2),
    block_timestamp: out.time(trade.block_timestamp),
    tx_hash: out.hex(trade.tx_hash, 2),
    wallet_address: out.hex(trade.wallet_address, 2),
    kind: out.ascii(trade.kind),
    token_type: asciiOrNull(out, trade.token_type),
    token_address: hexOrNull(out, trade.token_address),
    token_id: decimalOrNull(out, trade.token_id),
    token_amount: decimalOrNull(out, trade.token_amount),
    quote_type: asciiOrNull(out, trade.quote_type),
    quote_address: hexOrNull(out, trade.quote_address),
    quote_amount: decimalOrNull(out, trade.quote_amount),
    given: out.jsonb(trade.given),
    received: out.jsonb(trade.received),
    fees: out.jsonb(trade.fees),
    uncertain: out.bool(trade.uncertain),
  }) satisfies Record<TradeColumn['name'], void>;
}

function asciiOrNull(out: CopyRows, text: string | null): void {
  if (text === null) out.null();
  else out.ascii(text);
}

function hexOrNull(out: CopyRows, text: string | null): void {
  if (text === null) out.null();
  else out.hex(text, 2);
}

function decimalOrNull(out: CopyRows, text: string | null): void {
  if (text === null) out.null();
  else out.decimal(text);
}
