/** The sink's reads and writes in PostgreSQL. Each function is one transaction. */
import type postgres from 'postgres';
import { bytesToHex } from '../lib/hex.ts';
import { type Partition, partitionProblem, readPartitions } from './partitions.ts';
import { createPartition, PARTITION_INDEXES, type PartitionedTable, partitionName } from './schema.ts';
import { LONG_TIMEOUT_MS, type Session, SinkMismatchError, type SinkRow } from './session.ts';
import type { SinkTip, SourceToken, SourceWallet } from './source.ts';

interface WrittenBlock {
  number: string;
  hash: Buffer;
  seconds: string;
  last_transfer: string;
}

/** A token in PostgreSQL whose contract may still return a name. */
interface UnsettledToken {
  id: number;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
}

/** The row of `sink` after a rollback. */
type RolledBack = Pick<SinkRow, 'headBlock' | 'mark' | 'tradesBlock' | 'uncertainBlocks'>;

export class Target {
  private readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  sink(): Promise<SinkRow> {
    return this.read(async (sql) => {
      const [row] = await sql<
        {
          chain_id: string;
          start_block: string;
          from_block: string;
          partition_blocks: string;
          wallets: boolean;
          trades_block: string | null;
          trade_rules: string;
          uncertain_blocks: string;
          head_block: string | null;
          mark: string;
        }[]
      >`SELECT * FROM sink`;
      if (row === undefined) throw new Error('the table sink is empty');
      return {
        chainId: Number(row.chain_id),
        startBlock: Number(row.start_block),
        fromBlock: Number(row.from_block),
        partitionBlocks: Number(row.partition_blocks),
        wallets: row.wallets,
        headBlock: row.head_block === null ? null : Number(row.head_block),
        tradesBlock: row.trades_block === null ? null : Number(row.trades_block),
        tradeRules: row.trade_rules,
        uncertainBlocks: Number(row.uncertain_blocks),
        mark: row.mark,
      };
    });
  }

  /** A stored block; null when there is none at this height. */
  block(number: number): Promise<SinkTip | null> {
    return this.read((sql) => readBlock(sql, number));
  }

  /** Highest tokens.id, 0 without tokens. */
  lastToken(): Promise<number> {
    return this.read(async (sql) => {
      const [row] = await sql<{ last: string | null }[]>`SELECT max(id) AS last FROM tokens`;
      return Number(row?.last ?? 0);
    });
  }

  partitions(table: PartitionedTable, blocks: number): Promise<Partition[]> {
    return this.read((sql) => readPartitions(sql, table, blocks));
  }

  /** Makes the partition from a block on. Throws SinkMismatchError when something is in its way. */
  addPartition(
    parent: PartitionedTable,
    partitions: readonly Partition[],
    from: number,
    blocks: number,
  ): Promise<Partition> {
    return this.read(async (sql) => {
      const problem = await partitionProblem(sql, parent, partitions, from, blocks);
      if (problem !== null) throw new SinkMismatchError(problem);
      await sql.unsafe(createPartition(parent, from, blocks)).simple();
      const table = partitionName(parent, from);
      return { parent, table, from, to: from + blocks, missing: PARTITION_INDEXES[parent] };
    });
  }

  /** Builds the missing indexes of a partition, one transaction each. */
  async indexPartition({ table, missing }: Partition): Promise<void> {
    const run = (statement: (sql: postgres.Sql) => Promise<string>) =>
      this.session.transaction(async (sql) => {
        await this.session.within(sql.unsafe(await statement(sql)).simple(), LONG_TIMEOUT_MS);
      });
    for (const { suffix, as } of missing) {
      await run(async (sql) => {
        // Another index may have the name; PostgreSQL then finds one.
        const [named] = await this.session.within(
          sql<{ name: string; isFree: boolean }[]>`
            SELECT quote_ident(relname || ${`_${suffix}`}::text) AS name,
              to_regclass(quote_ident(relname || ${`_${suffix}`}::text)) IS NULL AS "isFree"
            FROM pg_class WHERE oid = ${table}::text::regclass`,
        );
        return `CREATE INDEX ${named?.isFree ? named.name : ''} ON ${table} USING ${as}`;
      });
    }
    await run(async () => `ANALYZE ${table}`);
  }

  /**
   * Removes the blocks from `from` on. `walletAsOf` returns the facts of a wallet as of the block before, null when
   * none of them lies in these tables.
   */
  rollback(
    from: number,
    { headBlock, mark, tradesBlock, uncertainBlocks }: RolledBack,
    walletAsOf: (address: Buffer) => SourceWallet | null,
  ): Promise<void> {
    const long = <T>(answer: Promise<T>) => this.session.within(answer, LONG_TIMEOUT_MS);
    return this.session.transaction(async (sql) => {
      await long(sql`DELETE FROM transfers WHERE block_number >= ${from}`);
      await long(sql`DELETE FROM trades WHERE block_number >= ${from}`);
      await long(sql`DELETE FROM blocks WHERE number >= ${from}`);
      await long(sql`DELETE FROM tokens WHERE first_block >= ${from}`);
      await long(sql`DELETE FROM wallets WHERE first_block >= ${from}`);
      const changed: { address: Buffer }[] = await long(
        sql`SELECT address FROM wallets WHERE funding_block >= ${from}`,
      );
      for (const { address } of changed) {
        const facts = walletAsOf(address);
        if (facts === null) await long(sql`DELETE FROM wallets WHERE address = ${address}`);
        else {
          await long(sql`
            UPDATE wallets SET funding_transfer = ${facts.funding}, funding_block = ${facts.fundingBlock}
            WHERE address = ${address}`);
        }
      }
      await long(sql`
        UPDATE sink SET head_block = ${headBlock}, mark = ${mark}, trades_block = ${tradesBlock},
          uncertain_blocks = ${uncertainBlocks}, updated_at = now()`);
    });
  }

  /** Has the trades written again from the first block on, by these rules. Their rows stay until then. */
  restartTrades(rules: string): Promise<void> {
    return this.read(async (sql) => {
      await sql`
        UPDATE sink SET trades_block = NULL, trade_rules = ${rules}, uncertain_blocks = 0, updated_at = now()`;
    });
  }

  /** Blocks above one that have uncertain trades, in order. */
  uncertainBlocks(after: number, limit: number): Promise<number[]> {
    return this.read(async (sql) => {
      const rows = await sql<{ block: string }[]>`
        SELECT DISTINCT block_number AS block FROM trades WHERE uncertain AND block_number > ${after}
        ORDER BY block_number LIMIT ${limit}`;
      return rows.map(({ block }) => Number(block));
    });
  }

  /** Marks the trades of these blocks as certain. */
  settleTrades(blocks: readonly number[]): Promise<void> {
    return this.read(async (sql) => {
      await sql`
        UPDATE trades SET uncertain = false WHERE uncertain AND block_number = ANY (${`{${blocks.join()}}`}::bigint[])`;
    });
  }

  /** Records how many blocks up to `trades_block` lack transfers. */
  setUncertainBlocks(count: number): Promise<void> {
    return this.read(async (sql) => {
      await sql`UPDATE sink SET uncertain_blocks = ${count}, updated_at = now()`;
    });
  }

  /** Tokens above an id whose metadata may still arrive, in order. */
  unsettledTokens(after: number, limit: number): Promise<UnsettledToken[]> {
    return this.read(async (sql) => {
      const rows = await sql<(Omit<UnsettledToken, 'id'> & { id: string })[]>`
        SELECT id, name, symbol, decimals FROM tokens WHERE NOT settled AND id > ${after}
        ORDER BY id LIMIT ${limit}`;
      return rows.map((row) => ({ ...row, id: Number(row.id) }));
    });
  }

  updateTokens(tokens: readonly SourceToken[]): Promise<void> {
    return this.read(async (sql) => {
      for (const { id, name, symbol, decimals, settled } of tokens) {
        await sql`
          UPDATE tokens SET name = ${storable(name)}, symbol = ${storable(symbol)}, decimals = ${decimals},
            settled = ${settled === 1} WHERE id = ${id}`;
      }
    });
  }

  /** A short transaction with one time limit. */
  private read<T>(run: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    return this.session.transaction((sql) => this.session.within(run(sql)));
  }
}

/** Text without NUL, which PostgreSQL cannot store. */
export function storable(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '');
}

async function readBlock(sql: postgres.Sql, number: number): Promise<SinkTip | null> {
  const [row] = await sql<WrittenBlock[]>`
    SELECT number, hash, extract(epoch FROM timestamp)::bigint AS seconds, last_transfer
    FROM blocks WHERE number = ${number}`;
  if (row === undefined) return null;
  return {
    number: Number(row.number),
    hash: bytesToHex(row.hash),
    timestamp: Number(row.seconds),
    lastTransfer: Number(row.last_transfer),
  };
}
