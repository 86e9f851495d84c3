/**
 * The table `trades` in PostgreSQL. Its rows are written with the transfers of their blocks. After an upgrade, or when
 * the lists of contracts changed by which trades are told, it is behind the transfers: then it is filled in pieces
 * while the sink goes on following the index.
 */
import type { ThreadLog } from '../log/logger.ts';
import type { PartitionSet } from './partition-set.ts';
import type { SinkRow } from './session.ts';
import type { SinkSource, SinkTip } from './source.ts';
import type { Target } from './target.ts';
import type { TradeWriter } from './trade-writer.ts';

/** Uncertain blocks compared at once. */
const BLOCKS_PER_STEP = 10_000;

export interface TradesCopyDeps {
  source: SinkSource;
  target: Target;
  writer: TradeWriter;
  partitions: PartitionSet;
  log: ThreadLog;
}

export class TradesCopy {
  readonly partitions: PartitionSet;
  private readonly deps: TradesCopyDeps;
  private readonly fromBlock: number;
  /** Last block whose trades are in PostgreSQL; null for none. */
  private last: number | null;
  /** The lists that they are told by. */
  private rules: string;
  private uncertainBlocks: number;

  constructor(deps: TradesCopyDeps, sink: SinkRow) {
    this.deps = deps;
    this.partitions = deps.partitions;
    this.fromBlock = sink.fromBlock;
    this.last = sink.tradesBlock;
    this.rules = sink.tradeRules;
    this.uncertainBlocks = sink.uncertainBlocks;
  }

  get block(): number | null {
    return this.last;
  }

  /** Whether trades are missing of blocks up to `tip`, the last one in PostgreSQL. */
  isBehind(tip: SinkTip | null): boolean {
    return tip !== null && (this.last === null || this.last < tip.number);
  }

  /** The lists by which the trades of the next batch are told; null while those before it are missing. */
  rulesAfter(tip: SinkTip | null): string | null {
    return this.isBehind(tip) ? null : this.rules;
  }

  /** A batch with trades was committed up to a block. */
  advanceTo(block: number): void {
    this.last = block;
  }

  /** Begins anew when the lists are no longer those of the rows. */
  async follow(): Promise<void> {
    const rules = this.deps.source.tradeRules();
    if (rules === this.rules) return;
    await this.deps.target.restartTrades(rules);
    if (this.last !== null)
      this.deps.log.info(
        { block: this.last },
        'the lists that trades are told by have changed: the PostgreSQL sink writes the table trades again',
      );
    this.rules = rules;
    this.last = null;
    this.uncertainBlocks = 0;
  }

  /** A repair of the index, during which no daemon runs, may have found blocks complete without changing them. */
  async settle(): Promise<void> {
    const { source, target } = this.deps;
    const uncertain = source.gapBlocks(this.fromBlock, this.last ?? -1);
    if (uncertain === this.uncertainBlocks) return;
    for (let after = -1; ; ) {
      const blocks = await target.uncertainBlocks(after, BLOCKS_PER_STEP);
      const complete = blocks.filter((block) => !source.isGap(block));
      if (complete.length > 0) await target.settleTrades(complete);
      after = blocks.at(-1) ?? after;
      if (blocks.length < BLOCKS_PER_STEP) break;
    }
    await target.setUncertainBlocks(uncertain);
    this.uncertainBlocks = uncertain;
  }

  /** What `sink` says of the trades after the removal of the blocks from `from` on. */
  withoutBlocksFrom(from: number): Pick<SinkRow, 'tradesBlock' | 'uncertainBlocks'> {
    const last = this.last === null ? null : Math.min(this.last, from - 1);
    const tradesBlock = last === null || last < this.fromBlock ? null : last;
    return { tradesBlock, uncertainBlocks: this.deps.source.gapBlocks(this.fromBlock, tradesBlock ?? -1) };
  }

  rolledBack({ tradesBlock, uncertainBlocks }: Pick<SinkRow, 'tradesBlock' | 'uncertainBlocks'>): void {
    this.last = tradesBlock;
    this.uncertainBlocks = uncertainBlocks;
  }

  /**
   * Writes a piece of the missing trades up to `tip`, the last block in PostgreSQL. Trades begin with the lowest
   * partition of transfers: the operator drops older ones where history is not to be kept.
   */
  async fill(tip: SinkTip, mark: string, firstWithTransfers: number): Promise<void> {
    const { partitions, rules, fromBlock } = this;
    const first = Math.max(fromBlock, Math.min(firstWithTransfers, tip.number));
    const next = this.last === null ? first : this.last + 1;
    const partition = await partitions.of(next);
    await partitions.index(partition);
    const last = Math.min(tip.number, partition.to - 1);
    const written = await this.deps.writer.fill({ mark, rules, fromBlock, first: next, last, holds: tip });
    if (written === null) return; // a reorg since the start of the step: the next step handles it
    this.last = written.block;
    this.uncertainBlocks = written.uncertainBlocks;
  }
}
