/** The sink: keeps PostgreSQL equal to the index, block by block, through failures of either side. */
import { nextOfCopy } from '../follower/copy.ts';
import type { Outcome } from '../follower/outcome.ts';
import { retry } from '../lib/async.ts';
import { messageOf } from '../lib/errors.ts';
import { RepeatLimit } from '../lib/limits.ts';
import type { ThreadLog } from '../log/logger.ts';
import { redactNodeText } from '../log/redact.ts';
import { currentMark, rewrittenSince } from '../model/rewrites.ts';
import { PostgresSetupError } from '../postgres/address.ts';
import { PoolerError } from '../postgres/own-session.ts';
import { BatchWriter } from './batch-writer.ts';
import { PartitionSet } from './partition-set.ts';
import type { Partition } from './partitions.ts';
import type { SinkProgress } from './progress.ts';
import { publicReason, Session, SinkFencedError, SinkMismatchError, type SinkRow } from './session.ts';
import type { SinkOptions } from './sink-client.ts';
import type { SinkSource, SinkTip } from './source.ts';
import { storable, Target } from './target.ts';
import { TradeWriter } from './trade-writer.ts';
import { TradesCopy } from './trades-copy.ts';

const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 15_000;

/** How long to wait for a message from the index, milliseconds. Token metadata arrives without one. */
const IDLE_MS = 1_000;

/** With fewer transfers to go, the sink counts as following and keeps the newest partition indexed. */
const NEAR_TRANSFERS = 100_000;

/** Shortest time between two equal log lines, milliseconds. */
const LOG_MS = 60_000;

export interface SinkDeps {
  source: SinkSource;
  progress: SinkProgress;
  /** Resolves when the index has changed, after at most `ms`, or at once when `signal` aborts. */
  waitForNews(ms: number): Promise<void>;
  /** Called after each batch and, with `now`, before each wait. */
  report(now?: 'now'): void;
  log: ThreadLog;
  signal: AbortSignal;
}

/** Runs until the signal aborts. Reports and retries failures. The index never depends on them. */
export async function runSink(options: SinkOptions, deps: SinkDeps): Promise<void> {
  const { progress, log, report, signal } = deps;
  const logLimit = new RepeatLimit(LOG_MS);
  let pooler: PoolerError | null = null;
  const runSessions = async (): Promise<void> => {
    while (!signal.aborted) await runSession(options, deps);
  };
  await retry(runSessions, {
    firstMs: RETRY_BASE_MS,
    longestMs: RETRY_MAX_MS,
    steadyMs: RETRY_MAX_MS,
    signal,
    onFailure(thrown) {
      if (thrown instanceof PoolerError) pooler = thrown;
      // The pooler keeps the session, and with it the lock, after this end.
      const error = thrown instanceof SinkFencedError ? (pooler ?? thrown) : thrown;
      progress.recordError();
      progress.setState(isForOperator(error) ? 'waiting' : 'connecting', publicReason(error));
      const reason = redactNodeText(messageOf(error));
      if (logLimit.allows(reason)) log.warn({ reason }, 'the PostgreSQL sink cannot write; retrying');
      report('now');
    },
  });
}

function isForOperator(error: unknown): boolean {
  return error instanceof SinkMismatchError || error instanceof PostgresSetupError;
}

async function runSession(options: SinkOptions, deps: SinkDeps): Promise<void> {
  const { source, log, signal } = deps;
  const chain = source.chain();
  if (chain === null || source.head('latest') === null) return deps.waitForNews(IDLE_MS); // nothing to write yet
  const fromBlock =
    options.fromBlock === 'earliest' ? chain.startBlock : Math.max(options.fromBlock, chain.startBlock);
  const { partitionBlocks, wallets } = options;
  const create = { ...chain, fromBlock, partitionBlocks, wallets };
  const session = await Session.open(options.url, options.schema, create, signal);
  try {
    const target = new Target(session);
    const sink = await target.sink();
    requireSameChain(sink, { ...chain, fromBlock, wallets }, options);
    source.book.rollback(); // the current session has not compared the blocks of these ids
    const run = await SessionRun.begin(options, deps, { session, target, sink });
    log.info({ schema: options.schema, block: sink.headBlock }, 'the PostgreSQL sink is writing');
    while (!signal.aborted) await run.step();
  } finally {
    await session.close();
  }
}

type SinkOutcome = Outcome<SinkTip | null>;

/** What a session has read of the tables. */
interface BegunSession {
  target: Target;
  sink: SinkRow;
  writer: BatchWriter;
  transferPartitions: PartitionSet;
  trades: TradesCopy;
  tip: SinkTip | null;
  tokensUpTo: number;
}

/** One session's steps, and its knowledge of the tables. */
class SessionRun {
  private readonly options: SinkOptions;
  private readonly deps: SinkDeps;
  private readonly target: Target;
  private readonly sink: SinkRow;
  private readonly writer: BatchWriter;
  private readonly transferPartitions: PartitionSet;
  private readonly trades: TradesCopy;
  private tip: SinkTip | null;
  /** Mark of the index (model/rewrites.ts) when these rows were copied. */
  private mark: string;
  private tokensUpTo: number;
  private unsettledAfter = 0;
  private refreshedAt = 0;

  static async begin(
    options: SinkOptions,
    deps: SinkDeps,
    { session, target, sink }: { session: Session; target: Target; sink: SinkRow },
  ): Promise<SessionRun> {
    const { source, log } = deps;
    const { headBlock, partitionBlocks } = sink;
    const partitions = await PartitionSet.read(target, 'trades', partitionBlocks);
    const writer = new TradeWriter(source, session);
    const trades = new TradesCopy({ source, target, writer, partitions, log }, sink);
    await trades.settle();
    return new SessionRun(options, deps, {
      target,
      sink,
      writer: new BatchWriter(source, session),
      trades,
      transferPartitions: await PartitionSet.read(target, 'transfers', partitionBlocks),
      tip: headBlock === null ? null : await target.block(headBlock),
      tokensUpTo: await target.lastToken(),
    });
  }

  private constructor(options: SinkOptions, deps: SinkDeps, begun: BegunSession) {
    this.options = options;
    this.deps = deps;
    this.target = begun.target;
    this.sink = begun.sink;
    this.writer = begun.writer;
    this.transferPartitions = begun.transferPartitions;
    this.trades = begun.trades;
    this.tip = begun.tip;
    this.mark = begun.sink.mark;
    this.tokensUpTo = begun.tokensUpTo;
  }

  /** Writes a batch, rolls back, or waits if there is nothing to do. */
  async step(): Promise<void> {
    const { source, progress, report } = this.deps;
    const seenAt = Date.now();
    const head = source.head(this.options.finality);
    const newest = source.head('latest');
    progress.setTips(this.tip, head, this.sink.fromBlock);
    if (newest === null) return this.wait('the index is empty');
    await this.trades.follow();
    progress.setTradesBlock(this.trades.block);
    const rewrites = source.rewrites();
    const mark = currentMark(rewrites);
    const next = await nextOfCopy(this.tip, {
      head: newest,
      first: this.sink.fromBlock,
      upTo: head?.number ?? null,
      rewrittenFrom: rewrittenSince(rewrites, this.mark),
      indexed: (number) => source.block(number),
      copied: (number) => this.target.block(number),
    });
    switch (next.kind) {
      case 'unrelated':
        throw unrelated(this.sink.fromBlock);
      case 'behind':
        return this.wait(`the index ends at block ${newest.number}, below the last block in PostgreSQL`);
      case 'withdrawn':
        return this.rollback(next, mark);
      case 'idle':
        if (this.tip !== null && this.trades.isBehind(this.tip)) return this.fillTrades(this.tip);
        progress.setState('following');
        progress.recordCaughtUp(seenAt);
        return this.rest();
      case 'rows':
        if (head !== null) await this.write(head, mark);
        return report();
    }
  }

  private async write(head: SinkTip, mark: string): Promise<void> {
    const { source, progress } = this.deps;
    const { fromBlock, wallets } = this.sink;
    const next = this.tip === null ? fromBlock : this.tip.number + 1;
    const seen = this.tip?.lastTransfer ?? source.block(fromBlock - 1)?.lastTransfer ?? 0;
    const isNear = head.lastTransfer - seen <= NEAR_TRANSFERS;
    const rules = this.trades.rulesAfter(this.tip);
    progress.setState(isNear && rules !== null ? 'following' : 'filling');
    if (this.tip === null) this.tokensUpTo = await seedTokens(source, this.writer, seen, this.tokensUpTo);
    const partition = await this.transferPartitions.of(next);
    await this.transferPartitions.index(isNear ? null : partition);
    const partitions = [partition, ...(rules === null ? [] : [await this.tradesPartition(next, isNear)])];
    const batch = await this.writer.write({
      tip: this.tip,
      mark,
      rules,
      fromBlock,
      last: Math.min(head.number, ...partitions.map(({ to }) => to - 1)),
      tokensUpTo: this.tokensUpTo,
      wallets,
    });
    if (batch.tip === null) return; // a reorg since the start of the step: the next step handles it
    this.tip = batch.tip;
    this.mark = batch.mark;
    this.tokensUpTo = batch.tokensUpTo;
    if (rules !== null) this.trades.advanceTo(batch.tip.number);
    else if (isNear) await this.fillTrades(batch.tip);
    progress.setTradesBlock(this.trades.block);
    progress.recordCommit(batch.transfers);
    progress.setTips(this.tip, head, fromBlock);
  }

  private async tradesPartition(block: number, isNear: boolean): Promise<Partition> {
    const { partitions } = this.trades;
    const partition = await partitions.of(block);
    await partitions.index(isNear ? null : partition);
    return partition;
  }

  /** Writes a piece of the trades that are missing up to the tip. */
  private async fillTrades(tip: SinkTip): Promise<void> {
    const { progress, report } = this.deps;
    progress.setState('filling');
    await this.trades.fill(tip, this.mark, this.transferPartitions.first);
    progress.setTradesBlock(this.trades.block);
    report();
  }

  private async rollback(
    { from, to, cause }: Extract<SinkOutcome, { kind: 'withdrawn' }>,
    mark: string,
  ): Promise<void> {
    const { source, progress, log } = this.deps;
    const { fromBlock } = this.sink;
    const blocks = (this.tip?.number ?? from - 1) - from + 1;
    if (this.options.finality === 'finalized' && cause === 'reorg') {
      throw new SinkMismatchError(
        `the index differs from PostgreSQL above block ${from - 1}, and with sink.postgres.finality = ` +
          `"finalized" no row is taken back: drop the schema "${this.options.schema}" to write it from the start, or ` +
          'set finality to "latest"',
      );
    }
    if (cause === 'rewrite')
      log.warn({ from, blocks }, 'the index was repaired: the PostgreSQL sink copies these blocks again');
    else log.info({ to: from - 1, blocks }, 'the PostgreSQL sink is rolling back');
    const trades = this.trades.withoutBlocksFrom(from);
    const kept = { headBlock: to?.number ?? null, mark, ...trades };
    await this.target.rollback(from, kept, (address) => {
      const facts = source.walletAsOf(address, to?.lastTransfer ?? 0);
      const isOurs = facts !== null && Math.max(facts.firstBlock, facts.fundingBlock ?? 0) >= fromBlock;
      return isOurs ? facts : null;
    });
    source.book.rollback();
    this.trades.rolledBack(trades);
    this.tip = to;
    this.mark = mark;
    this.tokensUpTo = await this.target.lastToken();
    progress.recordRollback();
  }

  private wait(reason: string): Promise<void> {
    this.deps.progress.setState('waiting', reason);
    this.deps.report('now');
    return this.deps.waitForNews(IDLE_MS);
  }

  /** At the head: write late token names, then the next block. */
  private async rest(): Promise<void> {
    const { source, report, waitForNews } = this.deps;
    if (performance.now() - this.refreshedAt >= IDLE_MS) {
      this.unsettledAfter = await refreshTokens(source, this.target, this.unsettledAfter);
      this.refreshedAt = performance.now();
      await this.transferPartitions.index(null);
      await this.trades.partitions.index(null);
    }
    report('now');
    await waitForNews(IDLE_MS);
  }
}

function unrelated(fromBlock: number): SinkMismatchError {
  return new SinkMismatchError(
    `PostgreSQL and the index have no block in common from block ${fromBlock} on: they hold different ` +
      'chains; set another sink.postgres.schema, or drop this one to rewrite it from the start',
  );
}

/** Throws SinkMismatchError when the tables were created for another chain, index or choice of rows. */
function requireSameChain(
  sink: SinkRow,
  own: Pick<SinkRow, 'chainId' | 'startBlock' | 'fromBlock' | 'wallets'>,
  { schema }: SinkOptions,
): void {
  const facts = [
    ['chain id', sink.chainId, own.chainId],
    ['first block of the index', sink.startBlock, own.startBlock],
    ['sink.postgres.from_block', sink.fromBlock, own.fromBlock],
    ['sink.postgres.wallets', sink.wallets, own.wallets],
  ] as const;
  for (const [what, stored, wanted] of facts) {
    if (stored === wanted) continue;
    throw new SinkMismatchError(
      `the schema "${schema}" was written with ${what} ${stored}, this daemon has ${wanted}: set another ` +
        'sink.postgres.schema, or drop that one to write it from the start',
    );
  }
}

/** Tokens per transaction. */
const TOKENS_PER_STEP = 5_000;

/** Writes the tokens with ids above `after` that appeared up to a transfer. Returns the highest id written. */
async function seedTokens(
  source: SinkSource,
  writer: BatchWriter,
  lastTransfer: number,
  after: number,
): Promise<number> {
  for (;;) {
    const tokens = source.tokensSeenUpTo(lastTransfer, after, TOKENS_PER_STEP);
    const last = tokens.at(-1);
    if (last === undefined) return after;
    await writer.writeTokens(tokens);
    after = last.id;
  }
}

/**
 * Copies names, symbols and decimals that the index has learned since. Checks one page of the tokens that may still
 * change, those above `after`, and returns where the next call continues.
 */
async function refreshTokens(source: SinkSource, target: Target, after: number): Promise<number> {
  const stored = await target.unsettledTokens(after, TOKENS_PER_STEP);
  const known = new Map(stored.map((token) => [token.id, token]));
  const changed = source.tokensOf([...known.keys()]).filter((token) => {
    const before = known.get(token.id);
    return (
      token.settled === 1 ||
      storable(token.name) !== before?.name ||
      storable(token.symbol) !== before.symbol ||
      token.decimals !== before.decimals
    );
  });
  if (changed.length > 0) await target.updateTokens(changed);
  return stored.length < TOKENS_PER_STEP ? 0 : (stored.at(-1)?.id ?? 0);
}
