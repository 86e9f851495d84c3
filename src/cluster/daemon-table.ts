/** The PostgreSQL table `daemons`: who uses the keys, and whether all daemons assign the same ids. */
import { bytesToHex, hexToBytes } from '../lib/hex.ts';
import type { Sql } from '../postgres/connection.ts';
import { type IndexIdentity, identityDifferences, parseRanges, rangesText } from './identity.ts';
import { ClusterMismatchError, type ClusterSession } from './session.ts';

/**
 * A daemon that did not shut down cleanly counts as present for this long, because it may return with the same index.
 */
const ABSENT_AFTER = '1 day';
/** A daemon is running if seen within this time. */
const RUNNING_WITHIN = '15 seconds';

interface DaemonEntry {
  id: string;
  /** Host and port. */
  name: string;
  program: string;
  /** `[tiers.*]` as JSON. */
  tiers: string;
  /** Null while its index is empty. */
  identity: IndexIdentity | null;
}

interface Columns {
  id: string;
  name: string;
  tiers: string;
  chain_id: string | null;
  genesis: Buffer | null;
  first_block: string;
  first_parent: Buffer | null;
  untraced: string;
  head: string;
  index_schema: number;
}

interface Joined {
  /** Describes the daemon that assigns different ids; null if none does. */
  mismatch: string | null;
  /** Names of the daemons whose tiers differ. */
  otherTiers: string[];
}

/**
 * Writes the daemon's row. With `mustMatch`, throws ClusterMismatchError instead if another daemon assigns different
 * ids.
 */
export async function joinCluster(
  session: ClusterSession,
  own: DaemonEntry,
  mustMatch: boolean,
): Promise<Joined> {
  const joined = await session.write(async (sql) => {
    const others = await sql<Columns[]>`
      SELECT * FROM atlas_keys.daemons
      WHERE id <> ${own.id} AND left_at IS NULL AND seen_at > now() - ${ABSENT_AFTER}::interval`;
    const mismatch = mismatchOf(own, others);
    if (mismatch === null || !mustMatch) await writeEntry(sql, own);
    return {
      mismatch,
      otherTiers: others.filter(({ tiers }) => tiers !== own.tiers).map(({ name }) => name),
    };
  });
  if (joined.mismatch !== null && mustMatch) throw new ClusterMismatchError(joined.mismatch);
  return joined;
}

function mismatchOf(own: DaemonEntry, others: readonly Columns[]): string | null {
  for (const other of others) {
    const there = identityOf(other);
    if (own.identity === null || there === null) continue;
    const [difference] = identityDifferences(own.identity, there);
    if (difference === undefined) continue;
    return `this daemon (${own.name}) and the daemon ${other.name} would assign different ids: ${difference}. Make both the same; if that daemon is gone for good, run in PostgreSQL: DELETE FROM atlas_keys.daemons WHERE id = '${other.id}'`;
  }
  return null;
}

async function writeEntry(sql: Sql, { id, name, program, tiers, identity }: DaemonEntry): Promise<void> {
  await sql`
    INSERT INTO atlas_keys.daemons (id, name, program, tiers, seen_at) VALUES (${id}, ${name}, ${program}, ${tiers}, now())
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, program = excluded.program, tiers = excluded.tiers,
      seen_at = now(), left_at = NULL`;
  if (identity === null) return;
  const { chainId, genesis, firstBlock, firstParent, untraced, head, schema } = identity;
  await sql`
    UPDATE atlas_keys.daemons SET chain_id = ${chainId}, genesis = ${genesis && hexToBytes(genesis)},
      first_block = ${firstBlock}, first_parent = ${firstParent && hexToBytes(firstParent)},
      untraced = ${rangesText(untraced)}, head = ${head}, index_schema = ${schema}
    WHERE id = ${id}`;
}

function identityOf(row: Columns): IndexIdentity | null {
  if (row.chain_id === null) return null;
  return {
    chainId: Number(row.chain_id),
    genesis: row.genesis && bytesToHex(row.genesis),
    firstBlock: Number(row.first_block),
    firstParent: row.first_parent && bytesToHex(row.first_parent),
    untraced: parseRanges(row.untraced),
    head: Number(row.head),
    schema: row.index_schema,
  };
}

/** Renews the daemon's row. Returns how many daemons run, including this one. */
export async function beat(session: ClusterSession, id: string): Promise<number> {
  const [row] = await session.read(
    (sql) => sql<{ running: string }[]>`
      WITH own AS (UPDATE atlas_keys.daemons SET seen_at = now() WHERE id = ${id})
      SELECT count(*) FILTER (WHERE id <> ${id}) + 1 AS running FROM atlas_keys.daemons
      WHERE left_at IS NULL AND seen_at > now() - ${RUNNING_WITHIN}::interval`,
  );
  return Number(row?.running ?? 1);
}

/** The daemon shuts down cleanly, so others may join without it. */
export async function leaveCluster(session: ClusterSession, id: string): Promise<void> {
  await session.read((sql) => sql`UPDATE atlas_keys.daemons SET left_at = now() WHERE id = ${id}`);
}
