/** The partitions of a table: those that the sink made, and those that the operator renamed, merged or added. */
import type { Sql } from '../postgres/connection.ts';
import { PARTITION_INDEXES, type PartitionedTable, type PartitionIndex, partitionName } from './schema.ts';

export interface Partition {
  parent: PartitionedTable;
  /** As SQL names it. */
  table: string;
  /** Its blocks: the first, and the first after it. */
  from: number;
  to: number;
  /** The sink's indexes that it lacks. Empty for a partition that the sink did not make. */
  missing: PartitionIndex[];
}

interface PartitionRow {
  table: string;
  bound: string;
  isOrdinary: boolean;
  indexes: string[];
}

const RANGE = /^FOR VALUES FROM \((.+)\) TO \((.+)\)$/;

/**
 * All except a default partition. Indexes are told by their definition, since names and numbers are not the sink's
 * alone.
 */
export async function readPartitions(
  sql: Sql,
  parent: PartitionedTable,
  blocks: number,
): Promise<Partition[]> {
  const rows = await sql<PartitionRow[]>`
    SELECT c.oid::regclass::text AS table, pg_get_expr(c.relpartbound, c.oid) AS bound, c.relkind = 'r' AS "isOrdinary",
      (SELECT coalesce(json_agg(pg_get_indexdef(x.indexrelid)), '[]') FROM pg_index x
        WHERE x.indrelid = c.oid AND x.indisvalid) AS indexes
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = ${parent}::text::regclass AND c.relpartbound IS NOT NULL ORDER BY c.relname`;
  const partitions: Partition[] = [];
  for (const { table, bound, isOrdinary, indexes } of rows) {
    const range = RANGE.exec(bound);
    if (range === null) continue;
    const [from, to] = [blockOf(range[1]), blockOf(range[2])];
    const isOwn = isOrdinary && to - from === blocks && from % blocks === 0;
    const missing = isOwn
      ? PARTITION_INDEXES[parent].filter(({ as }) => !indexes.some((index) => index.endsWith(` USING ${as}`)))
      : [];
    partitions.push({ parent, table, from, to, missing });
  }
  return partitions;
}

function blockOf(bound = ''): number {
  if (bound === 'MINVALUE') return Number.NEGATIVE_INFINITY;
  if (bound === 'MAXVALUE') return Number.POSITIVE_INFINITY;
  return Number(bound.replaceAll("'", ''));
}

/** Says why the partition from a block on cannot be made; null when nothing is in its way. */
export async function partitionProblem(
  sql: Sql,
  parent: PartitionedTable,
  partitions: Iterable<Partition>,
  from: number,
  blocks: number,
): Promise<string | null> {
  const to = from + blocks;
  for (const other of partitions) {
    if (other.from < to && other.to > from)
      return (
        `the partition ${other.table} of ${parent} has some of the blocks ${from} to ${to - 1}, but ` +
        'not all: detach it, or give it all of them'
      );
  }
  const name = partitionName(parent, from);
  const [row] = await sql<{ exists: boolean }[]>`SELECT to_regclass(${name}) IS NOT NULL AS exists`;
  return row?.exists
    ? `the table ${name} is no partition of ${parent} any more, and the sink writes its blocks: ` +
        'attach it ' +
        `again (ALTER TABLE ${parent} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO ` +
        `(${to})), or rename it to have an empty one made`
    : null;
}
