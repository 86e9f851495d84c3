/** Writes blocks to PostgreSQL: one transaction per batch, streaming transfers while the index is still being read. */
import { setImmediate } from 'node:timers/promises';
import type postgres from 'postgres';
import type { ColumnField } from '../model/transfer-fields.ts';
import { hasTokenNumber, movesOne, TRANSFER_KIND_NAMES } from '../model/transfer-kind.ts';
import type { Tip } from '../store/chain.ts';
import { blockFinder } from '../store/read/blocks.ts';
import { kindName } from '../store/read/transfers.ts';
import { columnList, TRANSFER_FIELDS } from './columns.ts';
import { COPY_HEADER, COPY_TRAILER, CopyRows } from './copy-rows.ts';
import type { Session } from './session.ts';
import type { Chunk, SinkSource, SinkTip, SourceToken, SourceWallet } from './source.ts';
import { encodeTrade } from './trade-writer.ts';

/** A batch ends with the chunk that reaches either limit. They bound what a failure repeats, and the memory in use. */
const BATCH_TRANSFERS = 100_000;
const BATCH_BLOCKS = 10_000;

/** The digits of the amount of an ERC-721 transfer. */
const ONE = '01';
const KINDS = new Map(TRANSFER_KIND_NAMES.map((name) => [name, Buffer.from(name)]));

interface BatchRange {
  /** Last block in PostgreSQL, null before the first. */
  tip: SinkTip | null;
  /** Mark of the index (model/rewrites.ts). */
  mark: string;
  /** First block of the tables. */
  fromBlock: number;
  /** Last block that may be written. */
  last: number;
  /** Highest tokens.id in PostgreSQL. */
  tokensUpTo: number;
  /** Whether `wallets` is filled. */
  wallets: boolean;
  /** The lists by which trades are told (model/trade-rules.ts); null while those of earlier blocks are missing. */
  rules: string | null;
}

interface WrittenBatch {
  /** Null when the index no longer has the tip. */
  tip: SinkTip | null;
  mark: string;
  tokensUpTo: number;
  transfers: number;
}

/** The rows of a batch that follow its transfers. */
class SmallRows {
  /** In pieces: a buffer that grows to the size of all of them would be copied, and its memory is new each time. */
  readonly trades: Buffer[] = [];
  readonly blocks = new CopyRows();
  readonly tokens = new CopyRows();
  /** By address, because a wallet may change in several chunks. */
  readonly wallets = new Map<string, SourceWallet>();
}

export class BatchWriter {
  private readonly source: SinkSource;
  private readonly session: Session;
  private readonly transfers = new CopyRows(1 << 20);
  private readonly trades = new CopyRows(1 << 20);

  constructor(source: SinkSource, session: Session) {
    this.source = source;
    this.session = session;
  }

  /** Commits as many blocks after the tip as fit into a batch. */
  write(range: BatchRange): Promise<WrittenBatch> {
    return this.session.writing(async (sql) => {
      const rows = new SmallRows();
      const written = await this.streamTransfers(range, rows);
      if (written.tip !== null && rows.blocks.rows > 0)
        await this.sendSmallRows(sql, rows, written.tip.number, range);
      return written;
    });
  }

  /** Commits tokens that come without their blocks. */
  writeTokens(tokens: readonly SourceToken[]): Promise<void> {
    return this.session.writing(async (sql) => {
      const rows = new CopyRows();
      for (const token of tokens) encodeToken(rows, token);
      await this.session.copyRows('tokens', [rows.take()]);
      await this.session.within(sql`UPDATE sink SET updated_at = now()`); // fails if COPY has failed
    });
  }

  private async streamTransfers(range: BatchRange, rows: SmallRows): Promise<WrittenBatch> {
    let { tip, tokensUpTo } = range;
    let transfers = 0;
    let isReorged = false;
    await this.session.copy('transfers', async (send) => {
      await send(COPY_HEADER);
      while (transfers < BATCH_TRANSFERS && rows.blocks.rows < BATCH_BLOCKS) {
        const chunk = this.source.read(tip, {
          mark: range.mark,
          rules: range.rules,
          first: range.fromBlock,
          last: range.last,
          tokensUpTo,
          facts: range.wallets,
        });
        // Everything sent so far is a state that the index had, so it may commit; the next step rolls it back.
        isReorged = chunk === null && tip === range.tip;
        const end = chunk?.blocks.at(-1);
        if (chunk === null || end === undefined) break;
        tokensUpTo = chunk.tokens.at(-1)?.id ?? tokensUpTo;
        transfers += chunk.transfers.length;
        this.encode(chunk, rows);
        await send(this.transfers.take());
        tip = end;
        await setImmediate(); // lets the socket send while the next chunk is read
      }
      await send(COPY_TRAILER);
    });
    return { tip: isReorged ? null : tip, mark: range.mark, tokensUpTo, transfers };
  }

  private encode(chunk: Chunk, rows: SmallRows): void {
    this.encodeTransfers(chunk);
    for (const trade of chunk.trades) encodeTrade(this.trades, trade);
    if (this.trades.rows > 0) rows.trades.push(this.trades.take());
    for (const block of chunk.blocks) encodeBlock(rows.blocks, block);
    for (const token of chunk.tokens) encodeToken(rows.tokens, token);
    for (const wallet of chunk.wallets) rows.wallets.set(wallet.address.toString('latin1'), wallet);
  }

  private encodeTransfers({ blocks, transfers }: Chunk): void {
    const out = this.transfers;
    const { wallets, tokens } = this.source.book;
    const blockOf = blockFinder(blocks);
    for (const transfer of transfers) {
      const { kind, token, logIndex } = transfer;
      const block = blockOf(transfer.id);
      out.row(TRANSFER_FIELDS.length);
      // As members, so that the compiler names a missing column. They are written in this order, that of COLUMNS.
      ({
        id: out.int8(transfer.id),
        block_number: out.int8(block.number),
        block_timestamp: out.time(block.timestamp),
        tx_hash: out.hex(transfer.txHash),
        event_index: out.int4(transfer.eventIndex),
        log_index: logIndex === null ? out.null() : out.int4(logIndex),
        transfer_type: out.bytea(kindBytes(kind)),
        from_address: out.hex(wallets.of(transfer.sender), 2),
        to_address: out.hex(wallets.of(transfer.receiver), 2),
        token_address: token === 0 ? out.null() : out.hex(tokens.of(token), 2),
        amount: out.numeric(movesOne(kind) ? ONE : transfer.amount),
        token_id: hasTokenNumber(kind) ? out.numeric(transfer.tokenNumber) : out.null(),
      }) satisfies Record<ColumnField['column']['name'], void>;
    }
  }

  private async sendSmallRows(
    sql: postgres.Sql,
    rows: SmallRows,
    head: number,
    { mark, rules, fromBlock }: BatchRange,
  ): Promise<void> {
    if (rows.trades.length > 0) await this.session.copyRows('trades', rows.trades);
    await this.session.copyRows('blocks', [rows.blocks.take()]);
    if (rows.tokens.rows > 0) await this.session.copyRows('tokens', [rows.tokens.take()]);
    if (rows.wallets.size > 0) await this.sendWallets(sql, [...rows.wallets.values()]);
    const gaps = () => this.source.gapBlocks(fromBlock, head);
    const trades = rules === null ? sql`` : sql`, trades_block = ${head}, uncertain_blocks = ${gaps()}`;
    // Last, because it fails in a transaction that PostgreSQL has aborted, whose COMMIT would look like success.
    await this.session.within(sql`UPDATE sink SET head_block = ${head}, mark = ${mark}, updated_at = now()
      ${trades}`);
  }

  private async sendWallets(sql: postgres.Sql, wallets: readonly SourceWallet[]): Promise<void> {
    const { session } = this;
    const rows = new CopyRows();
    for (const wallet of wallets) encodeWallet(rows, wallet);
    const columns = sql.unsafe(columnList('wallets'));
    await session.within(sql`
      CREATE TEMP TABLE IF NOT EXISTS changed_wallets ON COMMIT DELETE ROWS AS
        SELECT ${columns} FROM wallets WITH NO DATA`);
    await this.session.copyRows('wallets', [rows.take()], 'changed_wallets');
    await session.within(sql`
      INSERT INTO wallets (${columns}) SELECT ${columns} FROM changed_wallets ON CONFLICT (address)
      DO UPDATE SET funding_transfer = excluded.funding_transfer, funding_block = excluded.funding_block`);
  }
}

function encodeBlock(out: CopyRows, block: Tip): void {
  out.row(4);
  out.int8(block.number);
  out.hex(block.hash, 2);
  out.time(block.timestamp);
  out.int8(block.lastTransfer);
}

function kindBytes(kind: number): Buffer {
  return KINDS.get(kindName(kind))!;
}

function encodeToken(out: CopyRows, token: SourceToken): void {
  out.row(9);
  out.int8(token.id);
  out.bytea(token.address);
  out.bytea(kindBytes(token.kind));
  for (const text of [token.name, token.symbol]) {
    if (text === null) out.null();
    else out.text(text);
  }
  if (token.decimals === null) out.null();
  else out.int4(token.decimals);
  out.int8(token.block);
  out.time(token.timestamp);
  out.bool(token.settled === 1);
}

function encodeWallet(out: CopyRows, wallet: SourceWallet): void {
  out.row(5);
  out.bytea(wallet.address);
  out.int8(wallet.firstBlock);
  out.int8(wallet.first);
  for (const value of [wallet.funding, wallet.fundingBlock]) {
    if (value === null) out.null();
    else out.int8(value);
  }
}
