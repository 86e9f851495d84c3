/**
 * Limits what a repair may remove. The node may be on another chain, or be a load balancer over several nodes, so
 * nothing is removed until the node's answers connect to the index.
 */
import { FatalError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import type { Capabilities } from '../model/index-status.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchHeaders } from '../node/methods.ts';
import { chainOf, hashAt } from '../store/chain.ts';
import { AnchorTable } from '../store/chain-anchors.ts';
import type { Db } from '../store/open-database.ts';
import { isCorruption } from '../store/storage-error.ts';
import type { BlockRange } from '../store/trace-gaps.ts';

interface NodeAccess {
  client: RpcClient;
  signal: AbortSignal;
}

/**
 * Throws FatalError when block 0 and the first indexed block show that the node is on another chain. One match
 * suffices, because the disk may have changed the index's own values; missing blocks prove nothing.
 */
export async function requireSameChain(db: Db, { client, signal }: NodeAccess): Promise<void> {
  const start = chainOf(db)?.startBlock ?? 0;
  const first = readableHash(db, start);
  const { genesis, firstParent } = new AnchorTable(db).read();
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
    `the node is on another chain: its block ${number} is ${found}, the index has ${indexed}; nothing was changed; use a node of the indexed chain, or another data_dir`,
  );
}

interface ReplaceOptions extends NodeAccess {
  capabilities: Capabilities;
  range: BlockRange | null;
  maxReorg: number;
}

/**
 * Whether a rebuild may drop `block` and all blocks above, to read them from the node: the operator named them, or the
 * node has the same chain above, or a reorg could replace them. `hash`: the hash of the node's block, null if it does
 * not connect to the index.
 */
export async function isReplaceable(
  db: Db,
  { client, signal, capabilities, range, maxReorg }: ReplaceOptions,
  { last, changed }: { last: number; changed: ReadonlySet<number> },
  block: number,
  hash: Hex | null,
): Promise<boolean> {
  if (range !== null && block >= range.first) return true;
  const { finalized } = new AnchorTable(db).read();
  const isFinal = capabilities.headTag === 'finalized' || (finalized !== null && block <= finalized);
  if (!isFinal && last - block < maxReorg) return true;
  if (hash === null) return false;
  if (hash === readableHash(db, block)) return true;
  let above = block + 1;
  while (above <= last && changed.has(above)) above++;
  if (above > last) return false;
  const [own, intact] = await fetchHeaders(client, [block, above], signal);
  return own?.hash === hash && intact?.hash === readableHash(db, above);
}

/** Null for a block that is missing or on a damaged page. */
function readableHash(db: Db, number: number): Hex | null {
  try {
    return hashAt(db, number);
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return null;
  }
}
