/** The PostgreSQL table `daemons`: who uses the keys, and whether all daemons assign the same ids. */
import { bytesToHex, hexToBytes } from '../lib/hex.ts';
import { GAP_KINDS } from '../model/block-gap.ts';
import { isComplete, rulesText } from '../model/index-rules.ts';
import { currentMark, NO_REWRITES } from '../model/rewrites.ts';
import { formatTradeRules } from '../model/trade-rules.ts';
import type { Sql } from '../postgres/connection.ts';
import { type BlockRange, readGaps } from '../store/block-gaps.ts';
import { chainOf, readLastBlock, type Tip } from '../store/chain.ts';
import { AnchorTable, type ChainAnchors } from '../store/chain-anchors.ts';
import { SCHEMA_VERSION } from '../store/index-file.ts';
import { readRules } from '../store/index-rules.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import { prepareRewrites } from '../store/rewrites.ts';
import { prepareTradeGenerations } from '../store/trades/trade-generations.ts';
import { ClusterMismatchError, type ClusterSession } from './session.ts';

export interface IndexIdentity extends Pick<ChainAnchors, 'genesis' | 'firstParent'> {
  chainId: number;
  firstBlock: number;
  /** Blocks stored without traces or logs, up to `head`. */
  untraced: BlockRange[];
  head: number;
  schema: number;
  /** What counts as a transfer, as text; null for a daemon of an earlier release. */
  rules: string | null;
  /** The newest lists by which it tells trades, as text; null until they are recorded. Ids do not depend on them. */
  trades: string | null;
  /** The highest ids at the last block; null for a daemon of an earlier release. */
  ids: IdsAtBlock | null;
}

/**
 * The highest ids at a block. Under the same hash they differ if a repair has added or removed transfers of one index
 * and not of the other. Equal ones do not show changed amounts; each index takes places of the other, by their marks
 * (model/rewrites.ts), for ones from before its own repairs.
 */
interface IdsAtBlock extends Pick<Tip, 'number' | 'hash' | 'lastTransfer' | 'lastWallet'> {
  mark: string;
}

/** Further ranges are not published; `head` then ends with the last published one. */
const MAX_RANGES = 1_000;

/** Most rows read for them: ranges with different reasons may touch. */
const MAX_ROWS = 10 * MAX_RANGES;

/**
 * Ranges that do not touch or overlap. Kinds and reasons do not matter: whatever is missing, the transfers of the block
 * are uncertain, and each daemon's node has words of its own.
 */
function joinRanges(gaps: readonly BlockRange[]): BlockRange[] {
  const joined: BlockRange[] = [];
  for (const { first, last } of gaps.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else joined.push({ first, last });
  }
  return joined;
}

/** Null while the index is empty, and until the daemon has completed the rules of an earlier release. */
export function readIdentity(db: Db): IndexIdentity | null {
  return inReadTransaction(db, () => {
    const chain = chainOf(db);
    const last = readLastBlock(db);
    const rules = readRules(db);
    if (chain === null || last === null || rules === null || !isComplete(rules)) return null;
    const { genesis, firstParent } = new AnchorTable(db).read();
    const ranges = joinRanges(GAP_KINDS.flatMap((kind) => readGaps(db, kind, MAX_ROWS)));
    const untraced = ranges.slice(0, MAX_RANGES);
    return {
      chainId: chain.chainId,
      genesis,
      firstBlock: chain.startBlock,
      firstParent,
      untraced,
      head: ranges.length > MAX_RANGES ? (untraced.at(-1)?.last ?? last.number) : last.number,
      schema: SCHEMA_VERSION,
      rules: rulesText(rules),
      trades: tradesOf(db),
      ids: idsAt(db, last.number),
    };
  });
}

function tradesOf(db: Db): string | null {
  const { current, next } = prepareTradeGenerations(db)();
  const newest = next ?? current;
  return newest && formatTradeRules(newest.rules);
}

/** Null for a block that the index does not have. */
export function idsAt(db: Db, block: number): IdsAtBlock | null {
  const tip = readLastBlock(db, block);
  if (tip?.number !== block) return null;
  const { number, hash, lastTransfer, lastWallet } = tip;
  return { number, hash, lastTransfer, lastWallet, mark: currentMark(prepareRewrites(db)()) };
}

/**
 * The facts that differ, with both sides, such as "the first block is 5 here and 1 there"; empty when the ids are the
 * same.
 */
function identityDifferences(
  here: IndexIdentity,
  there: IndexIdentity,
  idsHere: (block: number) => IdsAtBlock | null,
): string[] {
  const head = Math.min(here.head, there.head);
  const facts: [what: string, here: unknown, there: unknown][] = [
    ['the chain id', here.chainId, there.chainId],
    // Unknown on one side is no difference.
    ['the hash of block 0', here.genesis ?? there.genesis, there.genesis ?? here.genesis],
    ['the first block', here.firstBlock, there.firstBlock],
    [
      'the hash of the block before the first',
      here.firstParent ?? there.firstParent,
      there.firstParent ?? here.firstParent,
    ],
    ['the list of incomplete blocks', untracedText(here, head), untracedText(there, head)],
    ['the schema version of index.db', here.schema, there.schema],
    ['what counts as a transfer', here.rules ?? there.rules, there.rules ?? here.rules],
    idsCompared(there.ids && idsHere(there.ids.number), there.ids),
  ];
  return facts
    .filter(([, one, other]) => one !== other)
    .map(([what, one, other]) => `${what} is ${one} here and ${other} there`);
}

/** On other branches, and where this index ends below, there is nothing to compare. */
function idsCompared(here: IdsAtBlock | null, there: IdsAtBlock | null): [string, string, string] {
  if (here === null || there === null || here.hash !== there.hash) return ['', '', ''];
  const text = ({ lastTransfer, lastWallet, mark }: IdsAtBlock): string =>
    `${lastTransfer} and ${lastWallet} (repairs: ${mark === NO_REWRITES ? 'none' : mark})`;
  const isSame = here.lastTransfer === there.lastTransfer && here.lastWallet === there.lastWallet;
  const what = `the highest id of transfers and of wallets at block ${here.number}`;
  return isSame ? [what, '', ''] : [what, text(here), text(there)];
}

function untracedText({ untraced }: IndexIdentity, head: number): string {
  const shared = untraced.filter(({ first }) => first <= head);
  return shared.length === 0
    ? 'empty'
    : rangesText(shared.map(({ first, last }) => ({ first, last: Math.min(last, head) })));
}

/** The text format of the table `daemons`. */
function rangesText(ranges: readonly BlockRange[]): string {
  return ranges.map(({ first, last }) => `${first}-${last}`).join();
}

function parseRanges(text: string): BlockRange[] {
  return text
    .split(',')
    .filter((range) => range !== '')
    .map((range) => {
      const [first = 0, last = 0] = range.split('-').map(Number);
      return { first, last };
    });
}

/**
 * A daemon that did not shut down cleanly counts as present for this long, because it may return with the same index.
 */
const ABSENT_AFTER = '1 day';
/** A daemon is running if seen within this time. */
const RUNNING_WITHIN = '15 seconds';

export interface DaemonEntry {
  id: string;
  /** Host and port. */
  name: string;
  program: string;
  /** `[tiers.*]` as JSON. */
  tiers: string;
  /** Null while its index is empty. */
  identity: IndexIdentity | null;
  idsAt(block: number): IdsAtBlock | null;
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
  rules: string | null;
  trades: string | null;
  ids: IdsAtBlock | null;
}

interface Joined {
  /** Describes the daemon that assigns different ids; null if none does. */
  mismatch: string | null;
  /** Names of the daemons whose tiers differ. */
  otherTiers: string[];
  /** Names of the daemons that tell trades by other lists. */
  otherTrades: string[];
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
      otherTrades: others.filter((other) => hasOtherTrades(own, other)).map(({ name }) => name),
    };
  });
  if (joined.mismatch !== null && mustMatch) throw new ClusterMismatchError(joined.mismatch);
  return joined;
}

function hasOtherTrades({ identity }: DaemonEntry, { trades }: Columns): boolean {
  return identity !== null && identity.trades !== null && trades !== null && identity.trades !== trades;
}

function mismatchOf(own: DaemonEntry, others: readonly Columns[]): string | null {
  for (const other of others) {
    const there = identityOf(other);
    if (own.identity === null || there === null) continue;
    const [difference] = identityDifferences(own.identity, there, own.idsAt);
    if (difference === undefined) continue;
    return (
      `this daemon (${own.name}) and the daemon ${other.name} would assign different ids: ${difference}. Make both ` +
      'the same; if that daemon is gone for good, run in PostgreSQL: ' +
      `DELETE FROM atlas_keys.daemons WHERE id = '${other.id}'`
    );
  }
  return null;
}

async function writeEntry(sql: Sql, { id, name, program, tiers, identity }: DaemonEntry): Promise<void> {
  await sql`
    INSERT INTO atlas_keys.daemons (id, name, program, tiers, seen_at)
    VALUES (${id}, ${name}, ${program}, ${tiers}, now())
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, program = excluded.program, tiers = excluded.tiers,
      seen_at = now(), left_at = NULL`;
  if (identity === null) return;
  const { chainId, genesis, firstBlock, firstParent, untraced, head, schema, rules, trades, ids } = identity;
  await sql`
    UPDATE atlas_keys.daemons SET chain_id = ${chainId}, genesis = ${genesis && hexToBytes(genesis)},
      first_block = ${firstBlock}, first_parent = ${firstParent && hexToBytes(firstParent)},
      untraced = ${rangesText(untraced)}, head = ${head}, index_schema = ${schema},
      rules = ${rules}, trades = ${trades}, ids = ${ids === null ? null : JSON.stringify(ids)}::text::jsonb
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
    rules: row.rules,
    trades: row.trades,
    ids: row.ids,
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
