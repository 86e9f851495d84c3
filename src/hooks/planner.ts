/**
 * Decides what a hook delivers next. Nothing is stored per event: the cursor says how far the receiver has accepted,
 * and everything after it is read from the index again.
 */
import { BranchWatch } from '../follower/branch-watch.ts';
import { IndexChain } from '../follower/index-chain.ts';
import { isHeld } from '../follower/outcome.ts';
import { nextOfTrail, type Position, type TrailCursor } from '../follower/trail.ts';
import { bytesToHex } from '../lib/hex.ts';
import { MAX_ADDRESSES } from '../model/stream-filters.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import type { EventRow } from '../query/events.ts';
import { Snapshot } from '../query/snapshot.ts';
import { prepareStreamReads, type StreamReads } from '../query/stream-reads.ts';
import type { Tip } from '../store/chain.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { MetadataWait } from '../streams/transfers/held-events.ts';
import type { IndexSource } from '../streams/transfers/index-source.ts';
import { mergeHistories } from '../streams/transfers/replay.ts';
import { type Signal, signalsOf } from '../streams/transfers/signals.ts';
import { TransferEvent } from '../streams/transfers/transfer-event.ts';
import type { SignalFilter } from '../streams/transfers/transfer-filter.ts';
import type { Hook } from './hook-store.ts';
import type { RevocablePart, RevocableParts } from './revocable-parts.ts';

/** Transfers scanned per plan, in some 30 ms. */
const MAX_SCANNED = 20_000;
const SCANNED_PER_READ = 1_000;
/** Full rows read at a time. */
const ROWS_PER_READ = 100;
/** For a few wallets, a longer gap is read from their histories. */
const LONG_GAP = 20_000;
/** Pieces of merged histories read per plan. */
const MAX_PIECES = 50;

/** A hook's filter with the wallets and contracts that select transfers; null for all. */
export interface CompiledFilter {
  filter: SignalFilter;
  wallets: WatchSet | null;
  contracts: WatchSet | null;
}

export interface PlannedEvent {
  event: TransferEvent;
  signal: Signal;
}

export type Plan =
  /** Nothing to do until the index moves. */
  | { kind: 'idle' }
  /** Nothing to do for some milliseconds, while the metadata of a new token is being read. */
  | { kind: 'wait' }
  /** A reorg or a repair removed blocks of whose events the hook may have some. */
  | { kind: 'withdraw'; gone: RevocablePart[]; from: number; resume: Position }
  /** Events to deliver, possibly none; `cursor` is the hook's position after them. */
  | { kind: 'events'; events: PlannedEvent[]; cursor: Position; finalUpTo: number; lag: number };

interface PlannerOptions {
  db: Db;
  /** Created once the chain is known. */
  sourceOf(reads: StreamReads): IndexSource;
  metadataWaitMs: number;
  /** `index.max_reorg`. */
  maxReorg: number;
  /** What the configuration adds to the lists of trades. */
  tradeLists?: ConfiguredTradeLists;
}

interface BlockEnd {
  number: number;
  hash: Buffer;
  last: number;
}

export class Planner {
  readonly reads: StreamReads;
  readonly snapshot: Snapshot;
  private readonly options: PlannerOptions;
  private readonly chain: IndexChain;
  private readonly blockOf: Statement<[number], BlockEnd>;
  private readonly metadata: MetadataWait;
  private source: IndexSource | null = null;
  private readonly branch: BranchWatch;
  /** Counts reorgs and repairs, which invalidate all ids read before. */
  epoch = 0;
  private lastScan: { key: string; rows: ReturnType<StreamReads['scan']> } | null = null;

  constructor(options: PlannerOptions) {
    const { db, metadataWaitMs, tradeLists } = options;
    this.options = options;
    this.snapshot = new Snapshot(db);
    this.reads = prepareStreamReads(db, this.snapshot, tradeLists);
    this.metadata = new MetadataWait(this.reads, metadataWaitMs);
    this.chain = new IndexChain(db, options.maxReorg);
    this.branch = new BranchWatch(this.chain.hashAt);
    this.blockOf = db.prepare(/* sql */ `
      SELECT number, hash, last_transfer AS last FROM blocks WHERE last_transfer >= +?
      ORDER BY last_transfer, number LIMIT 1`);
  }

  /** Runs reads that see one commit. */
  private read<T>(read: () => T): T {
    try {
      this.snapshot.head();
      this.noticeReorg();
      return read();
    } finally {
      this.snapshot.release();
    }
  }

  /**
   * What a hook gets next: withdrawals of events of removed blocks, or else its next events, at most `limit`.
   * One snapshot decides both, so that no events of a branch are sent before those of another are withdrawn.
   */
  plan(
    hook: Pick<Hook, 'id' | 'confirmations' | 'finality' | 'format' | 'firstBlock'> & { cursor: Position },
    parts: Pick<RevocableParts, 'attempted' | 'list' | 'isWithdrawing'>,
    compiled: () => CompiledFilter,
    limit: number,
  ): Plan {
    return this.read(() => {
      const last = this.reads.lastBlock();
      if (last === null) return { kind: 'idle' };
      const { id, cursor } = hook;
      const chain = this.chain.seenFrom(cursor.mark, last.number, firstToRepeat(hook));
      const isQuiet = isHeld(cursor, chain) && !parts.isWithdrawing(id);
      const known = isQuiet ? parts.attempted(id, cursor) : parts.list(id);
      const { maxReorg } = this.chain;
      const next = nextOfTrail(cursor, known, chain, {
        upTo: this.lastDelivered(hook, last.number),
        maxReorg,
      });
      switch (next.kind) {
        case 'rows':
          return this.follow(cursor, compiled(), last, next.upTo, limit);
        case 'withdrawn':
          return {
            kind: 'withdraw',
            gone: known.filter(({ number }) => number >= next.from),
            from: next.from,
            resume: next.to,
          };
        case 'idle':
        case 'behind':
          return { kind: 'idle' };
      }
    });
  }

  /** The position with its trail, if that was never stored. */
  withTrail(position: Position): Position {
    if (position.trail !== null) return position;
    return this.read(() => {
      const { number, hash } = position;
      const head = this.reads.lastBlock()?.number ?? -1;
      if (hash === null || this.chain.hashAt(number) !== hash) return position;
      return { ...position, trail: this.chain.trailBelow(number, head) };
    });
  }

  /** The last block whose events the hook gets while the index is at `head`. */
  private lastDelivered({ confirmations, finality }: Pick<Hook, 'confirmations' | 'finality'>, head: number) {
    return Math.min(head - confirmations, finality === 1 ? this.chain.finalBlock() : head);
  }

  /** The next events after a cursor that the index has, up to the block `end`. */
  private follow(
    cursor: Position,
    compiled: CompiledFilter,
    { number: head, lastWallet }: Tip,
    end: number,
    limit: number,
  ): Plan {
    const { number, position } = cursor;
    const first =
      position === null
        ? this.reads.lastIdsUpTo(number).lastTransfer + 1
        : this.reads.lastIdsUpTo(number - 1).lastTransfer + 1 + position;
    const below = this.reads.lastIdsUpTo(end).lastTransfer + 1;
    for (const set of [compiled.wallets, compiled.contracts]) set?.update(this.reads, lastWallet);
    const found = this.collect(compiled, first, below, limit);
    if (found.events.length === 0 && found.awaitsMetadata) return { kind: 'wait' };
    const next = found.next === below ? this.cursorAtEnd(end) : this.cursorBefore(found.next);
    return {
      kind: 'events',
      events: found.events,
      cursor: { ...next, trail: this.chain.trailTo(next.number, cursor, head), mark: this.chain.mark() },
      finalUpTo: this.chain.beyondReorg(head),
      lag: head - next.number,
    };
  }

  private cursorAtEnd(number: number): TrailCursor {
    return { number, hash: this.chain.hashAt(number), position: null };
  }

  /** The cursor after all transfers below an id. */
  private cursorBefore(next: number): TrailCursor {
    const end = this.blockOf.get(next - 1)!;
    const { lastTransfer } = this.reads.lastIdsUpTo(end.number - 1);
    const position = next - 1 === end.last ? null : next - 1 - lastTransfer;
    return { number: end.number, hash: bytesToHex(end.hash), position };
  }

  private collect(compiled: CompiledFilter, first: number, below: number, limit: number) {
    const events: PlannedEvent[] = [];
    let next = first;
    for (const { rows, reached } of this.candidates(compiled, first, below)) {
      for (const row of rows) {
        if (this.metadata.awaits(row)) return { events, next: row.id, awaitsMetadata: true };
        const planned = this.eventsOf(compiled.filter, row);
        if (planned.some(({ event, signal }) => event.awaitsTokens(signal, this.metadata)))
          return { events, next: row.id, awaitsMetadata: true };
        if (events.length + planned.length > limit) return { events, next: row.id, awaitsMetadata: false };
        events.push(...planned);
        next = row.id + 1;
      }
      next = reached;
    }
    return { events, next, awaitsMetadata: false };
  }

  private eventsOf(filter: SignalFilter, row: EventRow): PlannedEvent[] {
    const event = TransferEvent.from(this.openSource(), row);
    return signalsOf(filter, event).map((signal) => {
      event.side(signal.direction); // reads the transaction now, while the snapshot is open
      event.awaitsParties();
      return { event, signal };
    });
  }

  private openSource(): IndexSource {
    this.source ??= this.options.sourceOf(this.reads);
    return this.source;
  }

  /**
   * Full rows that may be wanted, in order; all transfers before `reached` were checked. Ends after a bounded amount of
   * work.
   */
  private *candidates(
    { wallets, contracts }: CompiledFilter,
    first: number,
    below: number,
  ): Generator<{ rows: EventRow[]; reached: number }, void, void> {
    const isShort = below - first <= LONG_GAP;
    const pieces =
      wallets === null || isShort || wallets.addresses.size > MAX_ADDRESSES
        ? this.scanned(wallets ?? contracts, wallets === null, first, below)
        : this.merged(wallets, first, below);
    for (const { ids, reached } of pieces) {
      for (let at = 0; at < ids.length; at += ROWS_PER_READ) {
        // Most transfers of a hook's wallets become events, which need their transactions; of all transfers, few do.
        const rows = this.openSource().read(ids.slice(at, at + ROWS_PER_READ), wallets !== null);
        yield { rows, reached: rows.at(-1)!.id + 1 };
      }
      yield { rows: [], reached };
    }
  }

  private *scanned(watched: WatchSet | null, byContract: boolean, first: number, below: number) {
    const end = Math.min(below, first + MAX_SCANNED);
    for (let next = first; next < end; ) {
      const rows = this.scan(next, end);
      next = rows.length < SCANNED_PER_READ ? end : rows.at(-1)!.id + 1;
      const wanted = rows.filter(({ sender, receiver, contract }) => {
        if (watched === null) return true;
        return byContract
          ? contract !== null && watched.has(contract)
          : watched.has(sender) || watched.has(receiver);
      });
      yield { ids: wanted.map(({ id }) => id), reached: next };
    }
  }

  private *merged(wallets: WatchSet, first: number, below: number) {
    let pieces = 0;
    for (const { ids, next } of mergeHistories(this.reads.history, wallets.known(), first, below)) {
      if (ids.length === 0) continue;
      yield { ids, reached: next };
      if (++pieces >= MAX_PIECES) return;
    }
    yield { ids: [], reached: below };
  }

  /** The hooks at the head all scan the same transfers, one after another. */
  private scan(from: number, below: number) {
    const key = `${this.epoch} ${from} ${below}`;
    if (this.lastScan?.key !== key)
      this.lastScan = { key, rows: this.reads.scan(from, below, SCANNED_PER_READ) };
    return this.lastScan.rows;
  }

  private noticeReorg(): void {
    const last = this.reads.lastBlock();
    if (!this.branch.isChanged(last && { ...last, mark: this.chain.mark() })) return;
    this.epoch++;
    this.reads.invalidateWalletsAbove(0);
    this.source = null;
  }
}

/**
 * The lowest block whose events the hook gets again when a repair rewrites it. Final events cannot be withdrawn,
 * because they are not stored: a program replaces them by their ids, but a chat would only fill up with them. A hook of
 * an earlier version may have begun at any block. The trail ends with a final block.
 */
function firstToRepeat({
  cursor,
  format,
  firstBlock,
}: Pick<Hook, 'format' | 'firstBlock'> & { cursor: Position }): number {
  if (firstBlock !== null && format === 'json') return firstBlock;
  const { number } = (cursor.trail ?? []).at(-1) ?? cursor;
  return Math.max(firstBlock ?? 0, number + 1);
}

/** Up to this many new wallets are compared with the set; for a longer gap, each address of the set is looked up. */
const NEW_WALLETS_PER_READ = 2_000;

/** A set of addresses by their ids in the index, so that a search through transfers reads no addresses. */
export class WatchSet {
  readonly addresses: ReadonlySet<string>;
  private readonly ids = new Set<number>();
  /** Wallets up to this id were compared with `addresses`; null before the first comparison. */
  private comparedUpTo: number | null = null;

  constructor(addresses: ReadonlySet<string>) {
    this.addresses = addresses;
  }

  /** Compares all new wallets up to `lastWallet`. Call it before `has`. */
  update(reads: Pick<StreamReads, 'walletId' | 'walletsAfter'>, lastWallet: number): void {
    if (this.comparedUpTo === null) {
      for (const address of this.addresses) {
        const id = reads.walletId(address);
        if (id !== undefined) this.ids.add(id);
      }
      this.comparedUpTo = lastWallet;
    }
    while (this.comparedUpTo < lastWallet) {
      const wallets = reads.walletsAfter(this.comparedUpTo, lastWallet, NEW_WALLETS_PER_READ);
      for (const { id, address } of wallets) if (this.addresses.has(address)) this.ids.add(id);
      this.comparedUpTo = wallets.length < NEW_WALLETS_PER_READ ? lastWallet : wallets.at(-1)!.id;
    }
  }

  /** Drops all ids, because a reorg reassigns some. */
  forget(): void {
    this.ids.clear();
    this.comparedUpTo = null;
  }

  has(id: number): boolean {
    return this.ids.has(id);
  }

  /** Ids of the indexed addresses of the set. */
  known(): number[] {
    return [...this.ids];
  }
}
