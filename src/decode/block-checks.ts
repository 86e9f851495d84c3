/**
 * Whether the answers about a block are complete and agree with each other. Decoding collects the contradictions, so
 * that one error names them all. Values that prove nothing (left out, null, a bloom of zeros or ones) are no
 * contradiction.
 */
import { UpstreamError } from '../lib/errors.ts';
import { isSameHex } from '../lib/hex.ts';
import { isObject, previewValue } from '../lib/text.ts';
import { exceedsLogs, hasBloomBits } from './bloom.ts';
import { type Log, UNNUMBERED } from './logs.ts';
import { isNone, type JsonObject, readArray } from './read-json.ts';
import type { BlockCheck } from './tolerance.ts';

/** Most contradictions that a message lists. */
const MAX_LISTED = 3;

/** An incomplete answer, as threads pass it on. */
export interface IncompleteBlock {
  block: number;
  checks: readonly BlockCheck[];
  /** Equal for equal contradictions of the same block. */
  digest: string;
  message: string;
}

/** The answers about a block contradict each other: something is missing or belongs to another block. */
export class IncompleteBlockError extends UpstreamError {
  override name = 'IncompleteBlockError';
  readonly found: IncompleteBlock;

  constructor(found: IncompleteBlock) {
    super('inconsistent', found.message);
    this.found = found;
  }
}

/** What is wrong with a log gap, the gravest first. */
const REASONS: Readonly<Record<BlockCheck, string>> = {
  receipt: 'receipts of transactions are missing, and with them their logs',
  log_order: 'logs are missing or repeated: their numbers do not rise by one',
  log_index: 'logs are missing: their numbers have holes',
  failed_index: 'logs may be missing: their numbers have holes after failed transactions',
  bloom: 'logs are missing: blooms show more',
  log_place: 'logs of another block or transaction, or removed ones, were left out',
  status: 'a receipt and a trace disagree on whether a transaction failed',
  root_frame: 'a trace belongs to another transaction',
  unreadable: 'a transaction cannot be read, or its internal transfers',
};

/** Why a block with such contradictions is a log gap. */
export function logGapReason(checks: readonly BlockCheck[]): string {
  const first = Object.entries(REASONS).find(([check]) => checks.some((each) => each === check));
  return first?.[1] ?? 'the answers about it contradict each other';
}

export class BlockChecks {
  /** Whether logs restart or repeat their numbers, or leave some out for failed transactions. */
  isRenumbered = false;
  private readonly blockHash: string;
  private readonly off: ReadonlySet<BlockCheck>;
  private readonly checks = new Set<BlockCheck>();
  private readonly problems: string[] = [];
  /** Number of the block's first log, and of the next one if none is missing. */
  private first = 0;
  private next = 0;
  private count = 0;
  /** Where the first number is missing between two receipts, and between two with a failed transaction in between. */
  private hole: string | null = null;
  private failedHole: string | null = null;
  /** Whether a failed transaction came since the last log. Cosmos chains count the logs that it lost. */
  private isAfterFailure = false;
  /** The last receipt with logs: its position, and its logs. */
  private lastAt = -1;
  private last: readonly Log[] = [];

  constructor(blockHash: string, off: readonly BlockCheck[] = []) {
    this.blockHash = blockHash;
    this.off = new Set(off);
  }

  /**
   * Follows the logs of the next receipt that has some; `at` is its position in the answer. Numbers those that the node
   * did not number: their place in the block is their number.
   */
  follow(logs: readonly Log[], at: number, txHash: string): void {
    const { length } = logs;
    this.last = logs;
    this.lastAt = at;
    let { next } = this;
    for (let i = 0; i < length; i++) {
      const log = logs[i]!;
      if (log.index === UNNUMBERED) log.index = next;
      const { index } = log;
      if (this.count === 0 && i === 0) this.first = index;
      if (index !== next) this.onJump(logs, i, next, txHash);
      next = index + 1;
    }
    this.count += length;
    this.next = next;
    this.isAfterFailure = false;
  }

  /** The next receipt is of a failed transaction without logs. */
  skipFailed(): void {
    this.isAfterFailure = true;
  }

  private onJump(logs: readonly Log[], i: number, next: number, txHash: string): void {
    const { index } = logs[i]!;
    const isFirst = i === 0;
    if (index > next) {
      const missing = `log ${next} is missing before log ${index} of ${txHash}`;
      if (!isFirst) this.add('log_order', missing);
      else if (this.isAfterFailure) this.failedHole ??= missing;
      else this.hole ??= missing;
    } else if (isFirst && index === this.first) this.isRenumbered = true;
    else if (!isFirst && index === next - 1 && !isSameLog(logs[i]!, logs[i - 1]!)) this.isRenumbered = true;
    else this.add('log_order', `log ${index} follows log ${next - 1} in ${txHash}`);
  }

  /** The logs of a receipt that are its own and not removed. */
  placed(logs: readonly Log[], receipt: JsonObject, txHash: string): readonly Log[] {
    const items = readArray(receipt['logs'], 'receipt logs');
    const foreign = items.map((item) => isObject(item) && !this.isPlaced(item, txHash));
    return foreign.includes(true) ? logs.filter((_log, i) => !foreign[i]) : logs;
  }

  private isPlaced({ blockHash, transactionHash, removed }: JsonObject, txHash: string): boolean {
    const before = this.problems.length;
    if (removed === true) this.add('log_place', `a log of ${txHash} is removed`);
    if (!isNone(blockHash) && !isSameHex(blockHash, this.blockHash))
      this.add('log_place', `a log of ${txHash} names block ${previewValue(blockHash)}`);
    if (!isNone(transactionHash) && !isSameHex(transactionHash, txHash))
      this.add('log_place', `a log of ${txHash} names transaction ${previewValue(transactionHash)}`);
    return this.problems.length === before || this.off.has('log_place');
  }

  /** A receipt without logs. */
  noLogs({ logsBloom }: JsonObject, txHash: string): void {
    if (hasBloomBits(logsBloom)) this.add('bloom', `the receipt of ${txHash} has a bloom and no logs`);
  }

  /**
   * `blockBloom`: the header's. `lastBloom`: the last receipt's bloom with bits, null if there is none. Numbers do not
   * show that a block's last log is missing; a bloom with more bits than the remaining logs can set does.
   */
  end(blockBloom: unknown, lastBloom: { at: number; bloom: string } | null): void {
    if (this.hole !== null && !this.isRenumbered) this.add('log_index', this.hole);
    if (this.failedHole !== null && !this.isRenumbered && !this.add('failed_index', this.failedHole))
      this.isRenumbered = true;
    if (this.count === 0) {
      if (hasBloomBits(blockBloom)) this.add('bloom', 'its header has a bloom and its receipts have no logs');
    } else if (lastBloom !== null && lastBloom.at === this.lastAt && exceedsLogs(lastBloom.bloom, this.last))
      this.add('bloom', 'the last receipt with logs has fewer than its bloom shows');
  }

  /** Returns false when the check is off. */
  add(check: BlockCheck, problem: string): boolean {
    if (this.off.has(check)) return false;
    this.checks.add(check);
    this.problems.push(problem);
    return true;
  }

  /** The contradictions; null if there are none. */
  found(block: number): IncompleteBlock | null {
    const { problems } = this;
    if (problems.length === 0) return null;
    const more = problems.length > MAX_LISTED ? ` and ${problems.length - MAX_LISTED} more` : '';
    return {
      block,
      checks: [...this.checks],
      digest: `${this.blockHash} ${problems.join('; ')}`,
      message:
        `the node's answer about block ${block} is incomplete: ` +
        `${problems.slice(0, MAX_LISTED).join('; ')}${more}`,
    };
  }
}

function isSameLog(a: Log, b: Log): boolean {
  return a.emitter === b.emitter && a.data === b.data && a.topics.join() === b.topics.join();
}
