/** Whether a node is on the chain of an index, before anything is compared or changed. */

import { pause } from '../lib/async.ts';
import { FatalError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import { settingName } from '../lib/setting-name.ts';
import type { RpcClient } from '../node/client.ts';
import { type BlockHeader, fetchHeaders } from '../node/methods.ts';
import { chainOf, hashAt, readLastBlock } from '../store/chain.ts';
import { AnchorTable } from '../store/chain-anchors.ts';
import type { Db } from '../store/open-database.ts';
import { isCorruption } from '../store/storage-error.ts';

export interface NodeAccess {
  client: RpcClient;
  signal: AbortSignal;
}

const advice = () => `use a node of the indexed chain, or another ${settingName('data_dir')}`;

/**
 * Throws FatalError when block 0 and the first indexed block show that the node is on another chain. One match
 * suffices, because the disk may have changed the index's own values; missing blocks prove nothing. `consequence`: what
 * did not happen.
 */
export async function requireSameChain(
  db: Db,
  { client, signal }: NodeAccess,
  consequence: string,
): Promise<void> {
  const start = chainOf(db)?.startBlock ?? 0;
  const first = readableHash(db, start);
  const { genesis, firstParent } = readableAnchors(db);
  const [nodeGenesis, nodeFirst] = await fetchHeaders(client, [0, start], signal);
  const pairs: [number, Hex | null, Hex | undefined][] = [
    [start, first, nodeFirst?.hash],
    [start - 1, start > 0 ? firstParent : null, nodeFirst?.parentHash],
    [0, genesis, nodeGenesis?.hash],
  ];
  const known = pairs.filter(([, indexed, found]) => indexed !== null && found !== undefined);
  const [example] = known;
  if (example === undefined || known.some(([, indexed, found]) => indexed === found)) return;
  const [number, indexed, found] = example;
  throw new FatalError(
    `the node is on another chain: its block ${number} is ${found}, the index has ${indexed}; ` +
      `${consequence}; ${advice()}`,
  );
}

/** Blocks that stand for the whole index, and how many of them must be known to judge. */
const SAMPLE = 16;
const MIN_COMPARED = 8;

/** How often and how long after to look again, milliseconds: a daemon may be in the middle of a reorg. */
const TRIES = 4;
const RETRY_MS = 1_000;

/**
 * Throws FatalError when the node has none of the index's blocks yet, or when all blocks of a sample above the first
 * differ: a chain may share its first block with others, as a test network does that was started again.
 */
export async function requireSameBlocks(
  db: Db,
  { client, signal }: NodeAccess,
  nodeHead: number,
): Promise<void> {
  const start = chainOf(db)?.startBlock ?? 0;
  const last = readLastBlock(db)?.number ?? start;
  if (nodeHead < start)
    throw new FatalError(
      `the node has none of the index's blocks ${start} to ${last}: it is at block ${nodeHead}; verify once ` +
        'it has caught up, or use another node',
    );
  for (let tries = 1; ; tries++) {
    const numbers = spread(start + 1, Math.min(last, nodeHead));
    const headers = await fetchHeaders(client, numbers, signal);
    const compared = headers.flatMap((header) => comparison(db, header));
    const differing = compared.filter(({ indexed, found }) => indexed !== found);
    if (compared.length < MIN_COMPARED || differing.length < compared.length) return;
    if (tries === TRIES) throw otherBlocks(start, compared.length, differing[0]!);
    await pause(RETRY_MS, signal);
    signal.throwIfAborted();
  }
}

interface ComparedHash {
  number: number;
  indexed: Hex;
  found: Hex;
}

function comparison(db: Db, header: BlockHeader | null): ComparedHash[] {
  const indexed = header && readableHash(db, header.number);
  return header && indexed ? [{ number: header.number, indexed, found: header.hash }] : [];
}

function otherBlocks(start: number, count: number, { number, indexed, found }: ComparedHash): FatalError {
  return new FatalError(
    `the node is on another chain: all ${count} blocks compared above block ${start} differ, such as block ` +
      `${number}, which is ${found} on the node and ${indexed} in the index; nothing else was compared; ${advice()}`,
  );
}

/** Distinct numbers at equal distances, with both ends; none if there are none. */
function spread(from: number, to: number): number[] {
  if (to < from) return [];
  const steps = Math.min(SAMPLE - 1, to - from);
  const at = (i: number) => from + Math.round(((to - from) * i) / Math.max(1, steps));
  return [...new Set(Array.from({ length: steps + 1 }, (_, i) => at(i)))];
}

/** Null for a block that is missing or on a damaged page. */
export function readableHash(db: Db, number: number): Hex | null {
  try {
    return hashAt(db, number);
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return null;
  }
}

function readableAnchors(db: Db): { genesis: Hex | null; firstParent: Hex | null } {
  try {
    return new AnchorTable(db).read();
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return { genesis: null, firstParent: null };
  }
}
