/**
 * Blocks whose answers contradict themselves, or that lack receipts. They are read from another node where there is
 * one. Only an answer that stays the same on all nodes for long is stored, as a log gap.
 */
import { type IncompleteBlock, IncompleteBlockError } from '../decode/block-checks.ts';
import type { BlockCheck, Tolerance } from '../decode/tolerance.ts';
import { UpstreamError } from '../lib/errors.ts';
import type { ThreadLog } from '../log/logger.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import type { RpcClient } from '../node/client.ts';
import { type LoadRules, loadBlocks, loadRange } from './backfill/load-blocks.ts';
import type { OtherNodes } from './other-nodes.ts';
import { MissingReceipts } from './require-transactions.ts';

/** How often, and over how many milliseconds, all nodes must give the same answer before it is stored. */
const GAP_ANSWERS = 5;
const GAP_AFTER_MS = 600_000;

const ADVICE = 'it is read again, and stored as a log gap once all nodes have said the same for ten minutes';

/** Most remembered blocks, and most accepted answers. Usually there is one. */
const MAX_SUSPECTS = 256;

/** Distances of the blocks that show whether a check fails on the chain in general. */
const SAMPLE = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
/** So many of them must fail it. */
const MIN_FAILING = 3;
/** Blocks within this distance of a sample are judged by it. */
const SAMPLE_REACH = 10_000;

/** Checks that some chains fail because they do otherwise: zkSync's root frames are calls of its bootloader. */
const CUSTOMS: Partial<Record<BlockCheck, string>> = {
  root_frame: 'its root frames are not its transactions, so traces are not compared with them',
};

/** The answers about a block so far. */
interface Suspect {
  digest: string;
  answers: number;
  since: number;
}

interface SuspectOptions {
  log: Pick<ThreadLog, 'warn' | 'error'>;
  /** Called with what is not checked on this chain, and why. */
  onCustom(text: string): void;
  /** GAP_AFTER_MS unless given. */
  gapAfterMs?: number | undefined;
}

/** A range, and where to read it. */
export interface SuspectRange {
  from: number;
  to: number;
  /** The node in use, and the others; null if there are none. */
  client: RpcClient;
  others: Pick<OtherNodes, 'first'> | null;
  rules: LoadRules;
  signal: AbortSignal;
}

/** Loads the range from the node in use. */
type LoadHere = (tolerance: Tolerance) => Promise<BlockBatch[]>;

export class SuspectBlocks {
  private readonly options: SuspectOptions;
  private readonly suspects = new Map<number, Suspect>();
  private readonly accepted: string[] = [];
  /** Where checks were sampled, and whether they fail there in general. */
  private readonly samples: { check: BlockCheck; block: number; isCustom: boolean }[] = [];

  constructor(options: SuspectOptions) {
    this.options = options;
  }

  /**
   * Loads a range, if need be from another node. Rejects with IncompleteBlockError or MissingReceipts while a block is
   * incomplete.
   */
  async load(range: SuspectRange, loadHere: LoadHere): Promise<BlockBatch[]> {
    try {
      return await loadHere(this.toleranceFor(range.from));
    } catch (error) {
      if (error instanceof MissingReceipts) return this.loadLacking(error, range, loadHere);
      if (!(error instanceof IncompleteBlockError)) throw error;
      const { found } = error;
      const other = await this.loadElsewhere(found, range);
      if (typeof other === 'object') return other;
      const isStored = other === 'same' && ((await this.isCustom(found, range)) || this.note(found));
      if (isStored) return loadHere(this.toleranceFor(range.from));
      throw new IncompleteBlockError({ ...found, message: `${found.message}; ${ADVICE}` });
    }
  }

  /**
   * Likewise for a block that lacks receipts. Near the head they often come a little later, and a node that pruned or
   * has yet to download them has none around: so only receipts that alone are missing, for long, are given up.
   */
  private async loadLacking(
    { missing }: MissingReceipts,
    range: SuspectRange,
    loadHere: LoadHere,
  ): Promise<BlockBatch[]> {
    const suspect = this.hear(missing);
    if (suspect.answers < GAP_ANSWERS) throw new MissingReceipts(missing);
    const other = await this.loadElsewhere(missing, range);
    if (typeof other === 'object') return other;
    const isDue = other === 'same' && this.isDue(suspect);
    if (isDue && (missing.hasOthers || (await hasReceiptsAround(missing.block, range)))) {
      this.accept(missing);
      return loadHere(this.toleranceFor(range.from));
    }
    throw new MissingReceipts({ ...missing, message: `${missing.message}; ${ADVICE}` });
  }

  private toleranceFor(block: number): Tolerance {
    const { accepted, samples } = this;
    const off = samples.flatMap((each) => (each.isCustom && isNear(each.block, block) ? [each.check] : []));
    return { off, accepted };
  }

  /** The range from the first other node that gives it whole; else whether all that answer say the same. */
  private async loadElsewhere(
    { block, digest, message }: IncompleteBlock,
    { from, to, others, signal }: SuspectRange,
  ): Promise<BlockBatch[] | 'same' | 'differs'> {
    let said: 'same' | 'differs' = 'same';
    const tolerance = this.toleranceFor(from);
    const found = await others?.first(async (client, rules) => {
      try {
        return await loadRange(client, { ...rules, tolerance }, from, to, signal);
      } catch (error) {
        const found = error instanceof MissingReceipts ? error.missing : null;
        const other = error instanceof IncompleteBlockError ? error.found : found;
        if (other !== null && other.digest !== digest) said = 'differs';
        throw error;
      }
    }, signal);
    if (!found) return said;
    this.options.log.warn({ block, reason: message }, 'an incomplete block was read from another node');
    return found;
  }

  /** Notes the same answer of all nodes. Returns whether it is stored from now on. */
  private note(found: IncompleteBlock): boolean {
    const isDue = this.isDue(this.hear(found));
    if (isDue) this.accept(found);
    return isDue;
  }

  private hear({ block, digest }: IncompleteBlock): Suspect {
    const { suspects } = this;
    const before = suspects.get(block);
    const suspect = before?.digest === digest ? before : { digest, answers: 0, since: performance.now() };
    suspect.answers++;
    suspects.delete(block);
    suspects.set(block, suspect);
    forgetOldest(suspects);
    return suspect;
  }

  private isDue({ answers, since }: Suspect): boolean {
    const { gapAfterMs = GAP_AFTER_MS } = this.options;
    return answers >= GAP_ANSWERS && performance.now() - since >= gapAfterMs;
  }

  private accept({ block, digest, message }: IncompleteBlock): void {
    const { suspects, accepted } = this;
    suspects.delete(block);
    accepted.push(digest);
    if (accepted.length > MAX_SUSPECTS) accepted.shift();
    this.options.log.error(
      { block, reason: message },
      'an incomplete block is stored as a log gap: every node gives the same answer',
    );
  }

  /** Whether the check that the block fails fails for its neighbours as well, because the chain does otherwise. */
  private async isCustom({ block, checks }: IncompleteBlock, range: SuspectRange): Promise<boolean> {
    const [check, another] = checks;
    const text = check === undefined ? undefined : CUSTOMS[check];
    if (check === undefined || text === undefined || another !== undefined) return false;
    if (this.samples.some((each) => each.check === check && isNear(each.block, block))) return false;
    const isCustom = await failsAround(check, block, range);
    this.samples.push({ check, block, isCustom });
    if (this.samples.length > MAX_SUSPECTS) this.samples.shift();
    if (isCustom) this.options.onCustom(text);
    return isCustom;
  }
}

/** Whether at least MIN_FAILING neighbours of the block fail the check. */
async function failsAround(
  check: BlockCheck,
  block: number,
  { client, rules, signal }: SuspectRange,
): Promise<boolean> {
  let failing = 0;
  for (const number of SAMPLE.flatMap((distance) => [block - distance, block + distance])) {
    if (number < 0) continue;
    try {
      await loadBlocks(client, { ...rules, tolerance: {} }, number, number, signal);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (error instanceof IncompleteBlockError && error.found.checks.includes(check)) failing++;
    }
    if (failing >= MIN_FAILING) return true;
  }
  return false;
}

/** Whether the node gives receipts of blocks before and after the block. */
async function hasReceiptsAround(block: number, { client, rules, signal }: SuspectRange): Promise<boolean> {
  const isServed = async (number: number) => {
    try {
      const batch = await loadBlocks(
        client,
        { ...rules, traces: null, tolerance: {}, isProbe: true },
        number,
        number,
        signal,
      );
      return batch.transferCount > 0;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return false;
    }
  };
  for (const step of [-1, 1]) {
    const around = SAMPLE.map((distance) => block + step * distance).filter((number) => number >= 0);
    let isFound = false;
    for (const number of around) isFound ||= await isServed(number);
    if (!isFound) return false;
  }
  return true;
}

function isNear(sampled: number, block: number): boolean {
  return Math.abs(sampled - block) <= SAMPLE_REACH;
}

function forgetOldest(suspects: Map<number, Suspect>): void {
  for (const block of suspects.keys()) {
    if (suspects.size <= MAX_SUSPECTS) return;
    suspects.delete(block);
  }
}
