/**
 * Finds damage before a repair changes anything, limits what it may remove, and checks the sums after it. The node may
 * be on another chain, or be a load balancer over several nodes, so nothing is removed until its answers connect to the
 * index.
 */
import { FatalError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import { type ChainFinality, holdsFinalOnly, reorgLimit, reorgRefusal } from '../model/finality.ts';
import type { Capabilities } from '../model/index-status.ts';
import { fetchHeaders } from '../node/methods.ts';
import type { BlockRange } from '../store/block-gaps.ts';
import { chainOf, readLastBlock } from '../store/chain.ts';
import { FinalBlocks } from '../store/final-blocks.ts';
import { damageOf } from '../store/index-file.ts';
import type { Db } from '../store/open-database.ts';
import { isCorruption } from '../store/storage-error.ts';
import { type CounterChecks, checkCounters } from './check-counters.ts';
import { findChangedBlocks } from './check-file.ts';
import type { Ids } from './recount.ts';
import { Check } from './report.ts';
import { type NodeAccess, readableHash } from './same-chain.ts';
import { FILE_SCOPE, namedScope } from './scope.ts';
import { checkFile, describeMark } from './verify.ts';

interface Damage {
  isDamaged: boolean;
  /** Whether an earlier repair marked the file. */
  isMarked: boolean;
  /** Blocks with a wrong checksum. */
  changed: ReadonlySet<number>;
  /** Descriptions of the damage. */
  texts: readonly string[];
}

interface DamageOptions {
  /** The blocks to repair; null to check the whole file. */
  range: BlockRange | null;
  signal: AbortSignal;
  onProgress(text: string): void;
}

/**
 * Checks the whole file. Given a range, and unless a mark indicates further damage, checks only what a repair of the
 * range touches: all blocks from its first on, and the wallets and tokens of its transfers.
 */
export async function findDamage(db: Db, options: DamageOptions): Promise<Damage> {
  const mark = damageOf(db);
  if (options.range !== null && mark === null) return findDamageBehind(db, options.range, options);
  const changed = new Set<number>();
  const checks = await checkFile(db, {
    ...options,
    scope: FILE_SCOPE,
    onChangedBlock: (block) => changed.add(block),
    checksAgain: true,
  });
  const texts = checks
    .flatMap(({ differences }) => differences.map(({ text }) => text))
    .filter((text) => mark === null || text !== describeMark(mark));
  options.signal.throwIfAborted();
  return { isDamaged: texts.length > 0, isMarked: mark !== null, changed, texts };
}

async function findDamageBehind(db: Db, range: BlockRange, options: DamageOptions): Promise<Damage> {
  const changed = new Set<number>();
  const texts: string[] = [];
  const last = readLastBlock(db)?.number ?? range.last;
  await findChangedBlocks(
    db,
    {
      from: range.first,
      to: last,
      signal: options.signal,
      onProgress: (done) => options.onProgress(`checksums ${Math.floor(done * 100)} %`),
    },
    (block) => {
      changed.add(block);
      if (texts.length < MAX_TEXTS) texts.push(`the stored rows of block ${block} do not match its checksum`);
    },
  );
  options.signal.throwIfAborted();
  if (changed.size === 0) {
    const wrong = await wrongSumOf(db, range, options);
    if (wrong !== null) texts.push(wrong);
  }
  if (texts.length === 0) return { isDamaged: false, isMarked: false, changed, texts };
  // A rebuild copies all blocks, so check all of them.
  const first = chainOf(db)?.startBlock ?? range.first;
  const all = { from: first, to: range.first - 1, signal: options.signal, onProgress: () => undefined };
  await findChangedBlocks(db, all, (block) => changed.add(block));
  return { isDamaged: true, isMarked: false, changed, texts };
}

const MAX_TEXTS = 20;

async function wrongSumOf(db: Db, range: BlockRange, options: DamageOptions): Promise<string | null> {
  try {
    return await findWrongSum(db, [idsOfBlocks(db, numbersOf(range))], options);
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return error.message;
  }
}

function* numbersOf({ first, last }: BlockRange): Generator<number> {
  for (let number = first; number <= last; number++) yield number;
}

/** Most wallets, and most tokens, to recount: enough to reveal damage within one read of the transfers. */
const MAX_RECOUNTED = 20_000;

/** The wallets and tokens in the transfers of some blocks. */
export function idsOfBlocks(db: Db, blocks: Iterable<number>): Ids {
  const named = db.prepare<[number, number], { sender: number; receiver: number; token: number | null }>(
    /* sql */ `
      SELECT DISTINCT sender, receiver, token FROM transfers
      WHERE id > ifnull((SELECT last_transfer FROM blocks WHERE number < ? ORDER BY number DESC LIMIT 1), 0)
        AND id <= (SELECT last_transfer FROM blocks WHERE number = ?)`,
  );
  const wallets = new Set<number>();
  const tokens = new Set<number>();
  for (const block of blocks) {
    if (wallets.size > MAX_RECOUNTED && tokens.size > MAX_RECOUNTED) break;
    for (const { sender, receiver, token } of named.iterate(block, block)) {
      wallets.add(sender).add(receiver);
      if (token !== null) tokens.add(token);
    }
  }
  return { wallets: [...wallets], tokens: [...tokens] };
}

/**
 * Recounts at most `MAX_RECOUNTED` wallets and tokens from all of their transfers. Describes the first wrong sum; null
 * when there is none. A rollback subtracts the rows that it finds: if the disk changed them, the sums stay wrong.
 * Throws FatalError when the signal aborts first.
 */
export async function findWrongSum(
  db: Db,
  ids: readonly Ids[],
  options: { signal: AbortSignal; onProgress(text: string): void },
): Promise<string | null> {
  const named = {
    wallets: [...new Set(ids.flatMap(({ wallets }) => wallets))].slice(0, MAX_RECOUNTED),
    tokens: [...new Set(ids.flatMap(({ tokens }) => tokens))].slice(0, MAX_RECOUNTED),
  };
  const checks: CounterChecks = { wallets: new Check('wallets'), tokens: new Check('tokens') };
  await checkCounters(db, checks, namedScope(named), {
    signal: options.signal,
    onProgress: (done) => options.onProgress(`counting again: ${Math.floor(done * 100)} %`),
  });
  const [first] = [...checks.wallets.differences, ...checks.tokens.differences];
  if (first === undefined && checks.wallets.compared === '')
    throw new FatalError(
      'the sums of the wallets and tokens of these blocks were not recounted: run "atlas-node verify --file"',
    );
  return first?.text ?? null;
}

interface ReplaceOptions extends NodeAccess {
  capabilities: Capabilities;
  finality: ChainFinality;
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
  { client, signal, capabilities, finality, range, maxReorg }: ReplaceOptions,
  { last, changed }: { last: number; changed: ReadonlySet<number> },
  block: number,
  hash: Hex | null,
): Promise<boolean> {
  if (range !== null && block >= range.first) return true;
  const finalized = new FinalBlocks(db, maxReorg).anchor();
  const limits = {
    isAllFinal: holdsFinalOnly(capabilities.headTag, finality, finalized !== null),
    finalized,
    maxReorg: reorgLimit(finality, maxReorg),
  };
  if (reorgRefusal(limits, { to: block - 1, height: last }) === null) return true;
  if (hash === null) return false;
  if (hash === readableHash(db, block)) return true;
  let above = block + 1;
  while (above <= last && changed.has(above)) above++;
  if (above > last) return false;
  const [own, intact] = await fetchHeaders(client, [block, above], signal);
  return own?.hash === hash && intact?.hash === readableHash(db, above);
}
