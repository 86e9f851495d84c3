/** Compares blocks with the node: the hashes of some by their headers, and all transfers of those decoded again. */
import { IncompleteBlockError } from '../decode/block-checks.ts';
import { type LoadRules, loadBlocks } from '../indexer/backfill/load-blocks.ts';
import { findHeaderProof, type HeaderProof, RootCheck } from '../indexer/root-check.ts';
import { forEachConcurrently } from '../lib/async.ts';
import { FatalError, messageOf, UpstreamError } from '../lib/errors.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import type { RpcClient } from '../node/client.ts';
import type { BlockRange } from '../store/block-gaps.ts';
import { chainOf, hashAt, readLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { headerDifference, loadWithRetry, Retries, settledDifference } from './block-comparer.ts';
import { type Check, isVerifyProgress, ProgressFile, type VerifyProgress } from './report.ts';
import { isAll, pickNumbers, type Scope } from './scope.ts';

interface NodeOptions {
  client: RpcClient;
  signal: AbortSignal;
}

/** Concurrent header requests. */
const HEADERS_AT_ONCE = 16;

/** Compares hashes and parent hashes with the node's headers. */
export async function checkHeaders(
  db: Db,
  check: Check,
  { headers, random }: Scope,
  { client, signal }: NodeOptions,
): Promise<void> {
  const from = chainOf(db)?.startBlock ?? 0;
  const numbers = [...pickNumbers(random, from, readLastBlock(db)?.number ?? -1, headers)];
  const absent: number[] = [];
  const retries = new Retries(false);
  await forEachConcurrently(numbers, HEADERS_AT_ONCE, signal, async (number, signal) => {
    const found = await headerDifference(db, client, number, retries, signal);
    if (found === 'absent') absent.push(number);
    else if (found !== null) check.addDifference(found, number);
  });
  const hashes = `${numbers.length - absent.length} hashes compared with the node's`;
  check.compared = check.compared === '' ? hashes : `${check.compared}, ${hashes}`;
  if (absent.length > 0)
    check.addNote(
      `the node lacks ${absent.length} of the ${numbers.length} requested blocks, such as ${absent[0]}`,
    );
}

/** Blocks per read if all are compared, and concurrent reads. */
const BLOCKS_PER_READ = 16;
const READS_AT_ONCE = 4;

/** Most recorded blocks whose transactions or receipts contradict their header. */
const MAX_WRONG_ROOTS = 1_000;

/** Most unread blocks that a note names each. */
const MAX_UNREAD_NOTES = 3;

/** How often progress is saved, milliseconds. */
const SAVE_MS = 2_000;

interface BlockOptions extends NodeOptions {
  /** Path of the index. */
  path: string;
  rules: LoadRules;
  onProgress(text: string): void;
}

interface ComparedChecks {
  transfers: Check;
  roots: Check;
}

/**
 * Compares the blocks of the scope. If these are all, it resumes where an earlier run stopped, proves what the node
 * sends by the roots in the headers and, when the signal aborts or the node keeps failing, saves the progress and
 * throws FatalError with how to resume. A sample leaves out what the node cannot return.
 */
export async function checkBlocks(
  db: Db,
  checks: ComparedChecks,
  scope: Scope,
  options: BlockOptions,
): Promise<void> {
  const { path, signal, onProgress } = options;
  const chain = chainOf(db);
  const tip = readLastBlock(db);
  if (chain === null || tip === null) return;
  const isWhole = isAll(scope.blocks);
  const file = isWhole ? new ProgressFile(`${path}.verify`, isVerifyProgress) : null;
  const tally = new Tally(chain, checks.transfers, file?.load(db) ?? null);
  const ranges = rangesOf(scope, tally.next, tip.number);
  const startedAt = performance.now();
  let savedAt = startedAt;
  try {
    const proof = isWhole
      ? await findHeaderProof(options.client, [chain.startBlock, tally.next], signal)
      : null;
    for (let read = take(ranges, READS_AT_ONCE); read.length > 0; read = take(ranges, READS_AT_ONCE)) {
      signal.throwIfAborted();
      const end = read.at(-1)!.last;
      tally.add(await compareRanges(db, read, READS_AT_ONCE, { ...options, proof }), end);
      const part = (end - chain.startBlock + 1) / (tip.number - chain.startBlock + 1);
      onProgress(`block ${end} of ${tip.number}, ${Math.floor(part * 100)} %`);
      if (performance.now() - savedAt < SAVE_MS) continue;
      tally.save(db, file);
      savedAt = performance.now();
    }
  } catch (error) {
    if (file === null) throw error;
    tally.save(db, file);
    if (!signal.aborted && !(error instanceof FatalError)) throw error;
    const reason = signal.aborted ? 'stopped' : messageOf(error);
    throw new FatalError(
      `${reason}; all blocks below ${tally.next} are compared: run it again to resume there`,
      { cause: error },
    );
  }
  file?.remove();
  tally.conclude(checks, isWhole, tip.number);
  const seconds = (performance.now() - startedAt) / 1000;
  if (!isWhole)
    checks.transfers.addNote(sampleText(tally.compared, tip.number - chain.startBlock + 1, seconds));
}

/** The share of wrong blocks for which a sample states its chance. */
const WRONG_SHARE = 0.01;

/** How likely a sample of blocks finds wrong ones, and what reading all of them would cost. */
export function sampleText(compared: number, blocks: number, seconds: number): string {
  if (compared >= blocks) return 'the sample has all blocks';
  const chance = 1 - (1 - WRONG_SHARE) ** compared;
  const percent = chance >= 0.9999 ? 'over 99.99' : (Math.floor(chance * 1000) / 10).toString();
  const hours = compared === 0 ? null : ((seconds / compared) * blocks) / 3600;
  const time =
    hours === null
      ? ''
      : `, ${hours < 1 ? 'less than an hour' : `some ${Math.ceil(hours)} hours`} at this pace`;
  return (
    `${compared} of ${blocks} blocks: if 1 % of all were wrong, such a sample would find one with a ` +
    `chance of ${percent} %; --all reads all ${blocks}${time}`
  );
}

/** All blocks, several at a time, or a sample, one by one. */
function* rangesOf({ blocks, random }: Scope, from: number, to: number): Generator<BlockRange> {
  if (isAll(blocks))
    for (let first = from; first <= to; first += BLOCKS_PER_READ)
      yield { first, last: Math.min(to, first + BLOCKS_PER_READ - 1) };
  else for (const number of pickNumbers(random, from, to, blocks)) yield { first: number, last: number };
}

function take<T>(items: Iterator<T>, count: number): T[] {
  const taken: T[] = [];
  for (let next = items.next(); !next.done; next = items.next()) {
    taken.push(next.value);
    if (taken.length === count) break;
  }
  return taken;
}

/** What was compared so far, and up to which block. */
class Tally {
  /** Where the comparison continues. */
  next: number;
  /** Blocks compared so far. */
  get compared(): number {
    return this.blocks;
  }
  private readonly chain: { chainId: number; startBlock: number };
  private readonly check: Check;
  private blocks: number;
  private transfers: number;
  private unproven: number;
  private unprovenReason: string;
  /** Number of blocks that the node did not return. */
  private unread = 0;
  private readonly wrongRoots: { block: number; text: string }[];

  constructor(chain: { chainId: number; startBlock: number }, check: Check, saved: VerifyProgress | null) {
    this.chain = chain;
    this.check = check;
    this.next = saved === null ? chain.startBlock : saved.block + 1;
    this.blocks = saved?.blocks ?? 0;
    this.transfers = saved?.transfers ?? 0;
    this.unproven = saved?.unproven ?? 0;
    this.unprovenReason = saved?.unprovenReason ?? '';
    this.wrongRoots = [...(saved?.wrongRoots ?? [])];
    for (const { text, block } of saved?.differences ?? []) check.addDifference(text, block);
    check.differenceCount = saved?.differenceCount ?? 0;
    if (saved !== null) check.addNote(`resumed after block ${saved.block}, where an earlier run stopped`);
  }

  add(found: BlockFindings, end: number): void {
    const { blocks, transfers, differences, wrongRoots, unproven, unread } = found;
    for (const { block, text } of differences) this.check.addDifference(text, block);
    for (const { block, text } of unread)
      if (this.unread++ < MAX_UNREAD_NOTES) this.check.addNote(`block ${block} could not be read: ${text}`);
    this.blocks += blocks;
    this.transfers += transfers;
    if (this.wrongRoots.length < MAX_WRONG_ROOTS) this.wrongRoots.push(...wrongRoots);
    this.unproven += unproven.length;
    const [first] = unproven;
    if (first !== undefined && this.unprovenReason === '')
      this.unprovenReason = `block ${first.block} has ${first.text}`;
    this.next = end + 1;
  }

  save(db: Db, file: ProgressFile<VerifyProgress> | null): void {
    const block = this.next - 1;
    const hash = hashAt(db, block);
    if (file === null || hash === null) return;
    const { chain, blocks, transfers, unproven, unprovenReason, wrongRoots } = this;
    const { differences, differenceCount } = this.check;
    const compared = { blocks, transfers, unproven, unprovenReason, wrongRoots };
    file.save({ ...chain, block, hash, ...compared, differences, differenceCount });
  }

  conclude({ transfers, roots }: ComparedChecks, isWhole: boolean, last: number): void {
    const more = this.unread - MAX_UNREAD_NOTES;
    if (more > 0) transfers.addNote(`${more.toLocaleString('en-US')} more blocks could not be read`);
    const blocks = this.blocks.toLocaleString('en-US');
    transfers.compared = isWhole
      ? `all ${blocks} blocks with ${this.transfers.toLocaleString('en-US')} transfers, decoded again`
      : `all transfers of ${blocks} blocks, decoded again`;
    transfers.share = isWhole ? 1 : this.blocks / (last - this.chain.startBlock + 1);
    if (isWhole) this.concludeRoots(roots);
  }

  private concludeRoots(roots: Check): void {
    const { blocks, unproven } = this;
    for (const { block, text } of this.wrongRoots) roots.addDifference(text, block);
    if (unproven > 0)
      roots.addNote(`${unproven.toLocaleString('en-US')} blocks could not be proven: ${this.unprovenReason}`);
    if (unproven === blocks) return;
    roots.compared =
      `transactions and receipts of ${(blocks - unproven).toLocaleString('en-US')} blocks by ` +
      'the roots in their headers';
    roots.share = (blocks - unproven) / blocks;
  }
}

interface Finding {
  block: number;
  text: string;
}

interface BlockFindings {
  blocks: number;
  transfers: number;
  differences: Finding[];
  /** Blocks whose transactions or receipts contradict the node's header. */
  wrongRoots: Finding[];
  /** Blocks whose roots cannot be computed here. */
  unproven: Finding[];
  /** Blocks that the node did not return. */
  unread: Finding[];
}

function noFindings(): BlockFindings {
  return { blocks: 0, transfers: 0, differences: [], wrongRoots: [], unproven: [], unread: [] };
}

interface ProvenOptions extends BlockOptions {
  /** What the blocks read so far prove of the chain's headers; null if they need no proof. */
  proof: HeaderProof | null;
}

/** Compares ranges, `atOnce` at a time. Findings are in the order of the blocks. */
async function compareRanges(
  db: Db,
  ranges: readonly BlockRange[],
  atOnce: number,
  { proof, ...options }: ProvenOptions,
): Promise<BlockFindings> {
  const parts: BlockFindings[] = [];
  await forEachConcurrently(ranges.entries(), atOnce, options.signal, async ([i, range], signal) => {
    parts[i] =
      proof === null
        ? await compareReadable(db, range, { ...options, signal })
        : await compareProven(db, range, proof, { ...options, signal });
  });
  const found = noFindings();
  for (const part of parts) {
    found.blocks += part.blocks;
    found.transfers += part.transfers;
    found.differences.push(...part.differences);
    found.wrongRoots.push(...part.wrongRoots);
    found.unproven.push(...part.unproven);
    found.unread.push(...part.unread);
  }
  return found;
}

/** Compares a range if the node returns it. */
async function compareReadable(
  db: Db,
  { first, last }: BlockRange,
  options: BlockOptions,
): Promise<BlockFindings> {
  const { client, rules, signal } = options;
  try {
    return await compareBatch(db, await loadBlocks(client, rules, first, last, signal), options);
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    return { ...noFindings(), unread: [{ block: first, text: error.message }] };
  }
}

/** Compares a range. A block that contradicts its header is recorded and still compared. */
async function compareProven(
  db: Db,
  range: BlockRange,
  proof: HeaderProof,
  options: BlockOptions,
): Promise<BlockFindings> {
  const { first, last } = range;
  const unproven: Finding[] = [];
  try {
    const rules = { ...options.rules, checkRoots: true };
    const roots = new RootCheck(proof, (block, text) => unproven.push({ block, text }));
    const batch = await loadWithRetry(options, rules, first, last, roots);
    return { ...(await compareBatch(db, batch, options)), unproven: distinct(unproven) };
  } catch (error) {
    const { WrongRootError } = await import('../indexer/block-roots.ts');
    const cause = error instanceof FatalError ? error.cause : null;
    if (!(cause instanceof IncompleteBlockError || cause instanceof WrongRootError)) throw error;
    if (first < last) {
      const each = Array.from({ length: last - first + 1 }, (_, i) => ({
        first: first + i,
        last: first + i,
      }));
      return compareRanges(db, each, 1, { ...options, proof });
    }
    if (cause instanceof IncompleteBlockError)
      return { ...noFindings(), blocks: 1, differences: [{ block: first, text: cause.message }] };
    const found = await compareBatch(db, await loadWithRetry(options, options.rules, first, last), options);
    return { ...found, wrongRoots: [{ block: first, text: cause.message }] };
  }
}

/** Drops repeated entries of a block that was read several times. */
function distinct(unproven: readonly Finding[]): Finding[] {
  return [...new Map(unproven.map((each) => [each.block, each])).values()];
}

async function compareBatch(
  db: Db,
  batch: BlockBatch,
  { client, signal }: NodeOptions,
): Promise<BlockFindings> {
  const found: BlockFindings = { ...noFindings(), blocks: batch.blockCount, transfers: batch.transferCount };
  for (let i = 0; i < batch.blockCount; i++) {
    const text = await settledDifference(db, client, batch, i, signal);
    if (text !== null) found.differences.push({ block: batch.number[i]!, text });
  }
  return found;
}
