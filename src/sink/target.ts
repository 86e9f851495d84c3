/** The sink's reads and writes in PostgreSQL. Each function is one transaction. */
import type postgres from 'postgres';
import { bytesToHex } from '../lib/hex.ts';
import type { SinkTip, SourceToken, SourceWallet } from './index-source.ts';
import { createPartition, partitionIndexes, partitionName } from './schema.ts';
import { LONG_TIMEOUT_MS, type Session, type SinkRow } from './session.ts';

interface BlockRow {
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

/** A partition of `transfers`. */
interface Partition {
  /** The first block of the partition. */
  first: number;
  isIndexed: boolean;
}

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
          head_block: string | null;
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

  partitions(): Promise<Partition[]> {
    return this.read(async (sql) => {
      const rows = await sql<{ name: string; indexes: string }[]>`
        SELECT c.relname AS name, (SELECT count(*) FROM pg_index x WHERE x.indrelid = c.oid) AS indexes
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'transfers'::regclass`;
      const whole = 1 + partitionIndexes(0).length; // includes the primary key
      return rows.map(({ name, indexes }) => ({
        first: Number(name.slice(partitionName(0).length - 1)),
        isIndexed: Number(indexes) >= whole,
      }));
    });
  }

  addPartition(first: number, blocks: number): Promise<void> {
    return this.read(async (sql) => {
      await sql.unsafe(createPartition(first, blocks)).simple();
    });
  }

  /** Builds the missing indexes of a partition, one transaction each. */
  async indexPartition(first: number): Promise<void> {
    for (const { create } of partitionIndexes(first)) {
      await this.session.transaction(async (sql) => {
        await this.session.within(sql.unsafe(create).simple(), LONG_TIMEOUT_MS);
      });
    }
    await this.session.transaction(async (sql) => {
      await this.session.within(sql.unsafe(`ANALYZE ${partitionName(first)}`).simple(), LONG_TIMEOUT_MS);
    });
  }

  /**
   * Removes everything above a block. `walletAsOf` returns the facts of a wallet as of that block, null when none of
   * them lies in these tables.
   */
  rollback(to: SinkTip, walletAsOf: (address: Buffer) => SourceWallet | null): Promise<void> {
    const long = <T>(answer: Promise<T>) => this.session.within(answer, LONG_TIMEOUT_MS);
    return this.session.transaction(async (sql) => {
      await long(sql`DELETE FROM transfers WHERE block_number > ${to.number}`);
      await long(sql`DELETE FROM blocks WHERE number > ${to.number}`);
      await long(sql`DELETE FROM tokens WHERE first_block > ${to.number}`);
      await long(sql`DELETE FROM wallets WHERE first_block > ${to.number}`);
      const changed: { address: Buffer }[] = await long(
        sql`SELECT address FROM wallets WHERE funding_block > ${to.number}`,
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
      await long(sql`UPDATE sink SET head_block = ${to.number}, updated_at = now()`);
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
  const [row] = await sql<BlockRow[]>`
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
