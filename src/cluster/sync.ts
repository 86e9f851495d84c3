/**
 * Synchronizes keys.db with the tables in PostgreSQL: keys come from there, this daemon's counts go there, and the
 * counts of the others come back. Unsent counts stay and are sent later.
 */

import { cacheKeys } from '../access/keys-file.ts';
import type { MonthlyUsage } from '../access/usage-tables.ts';
import { ownMonths, ownUsage } from '../access/usage-tables.ts';
import { retry } from '../lib/async.ts';
import { messageOf, RequestError } from '../lib/errors.ts';
import { RepeatLimit } from '../lib/limits.ts';
import type { ThreadLog } from '../log/logger.ts';
import { redactNodeText } from '../log/redact.ts';
import { type ClusterStatus, INITIAL_CLUSTER_STATUS } from '../model/cluster-status.ts';
import type { Db } from '../store/open-database.ts';
import type { ClusterOptions, FromCluster } from './cluster-client.ts';
import { beat, type DaemonEntry, type IndexIdentity, joinCluster, leaveCluster } from './daemon-table.ts';
import { joinFile, updateKeys } from './join-file.ts';
import { changeKey, type KeyChange } from './key-table.ts';
import { ClusterMismatchError, ClusterSession, publicReason } from './session.ts';
import {
  sendUsage,
  sentMonths,
  sentUsage,
  USAGE_PER_PAGE,
  UsageOutbox,
  usageElsewhere,
} from './usage-table.ts';

const RETRY_BASE_MS = 250;
const RETRY_MAX_MS = 5_000;

/**
 * Interval of polls of PostgreSQL, milliseconds. A count takes half a second to keys.db, and this long to the other
 * daemons.
 */
const POLL_MS = 500;

/** Interval of heartbeats in the daemon's row, milliseconds. */
const BEAT_MS = 5_000;

/** Longest time to send the last counts when the daemon stops. */
const STOP_MS = 2_000;

/** Shortest time between two equal log lines, milliseconds. */
const LOG_MS = 60_000;

/** Another session of the same daemon is open. After a lost connection, the session lives on for half a minute. */
const IDENTITY_IN_USE =
  'another daemon uses the identity of this keys.db: a copy of the file must not run beside it (move the ' +
  'copy away, and it will be filled again)';

interface SyncDeps {
  /** keys.db, for the keys. The serving thread writes the counts. */
  db: Db;
  /** Null while the index is empty. */
  identity(): IndexIdentity | null;
  /** The highest ids at a block, null for one that the index does not have. */
  idsAt: DaemonEntry['idsAt'];
  post(message: FromCluster): void;
  /** Resolves after `ms`, or when `wake` is called. */
  wait(ms: number): Promise<void>;
  wake(): void;
  log: ThreadLog;
  signal: AbortSignal;
}

interface PendingChange {
  id: number;
  change: KeyChange;
}

export class ClusterSync {
  private readonly options: ClusterOptions;
  private readonly deps: SyncDeps;
  private readonly outbox = new UsageOutbox();
  private readonly logLimit = new RepeatLimit(LOG_MS);
  private changes: PendingChange[] = [];
  private status: ClusterStatus = { ...INITIAL_CLUSTER_STATUS };
  /** Whether the index was compared with those of the other daemons. After that, a difference stops nothing. */
  private isCompared = false;
  private isJoined = false;

  constructor(options: ClusterOptions, deps: SyncDeps) {
    this.options = options;
    this.deps = deps;
    for (const month of ownMonths(deps.db).keys()) this.outbox.noteSent(ownUsage(deps.db, month));
  }

  noteUsage(totals: readonly MonthlyUsage[]): void {
    this.outbox.note(totals);
    this.deps.wake();
  }

  requestChange(pending: PendingChange): void {
    this.changes.push(pending);
    this.deps.wake();
  }

  /** Runs until the signal aborts, or until the daemon is refused. */
  async run(): Promise<void> {
    const { signal, post } = this.deps;
    const runSessions = async (): Promise<void> => {
      while (!signal.aborted) await this.runSession();
    };
    try {
      await retry(runSessions, {
        firstMs: RETRY_BASE_MS,
        longestMs: RETRY_MAX_MS,
        steadyMs: RETRY_MAX_MS,
        signal,
        onFailure: (error) => this.fail(error),
        wait: (ms) => this.rest(ms),
      });
    } catch (error) {
      if (!(error instanceof ClusterMismatchError)) throw error;
      post({ kind: 'refused', message: error.message });
    }
  }

  /** Reports a failure. Rethrows one for which the daemon must not serve beside the others. */
  private fail(error: unknown): void {
    if (error instanceof ClusterMismatchError && !this.isCompared) throw error;
    const reason = redactNodeText(messageOf(error));
    if (this.logLimit.allows(reason))
      this.deps.log.warn(
        { reason },
        'the shared keys are out of sync with PostgreSQL; known keys stay valid, and counts are kept',
      );
    this.report({
      state: 'connecting',
      reason: publicReason(error),
      daemons: null,
      errors: this.status.errors + 1,
    });
  }

  /** Waits for the whole time and refuses changes meanwhile. */
  private async rest(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (!this.deps.signal.aborted && performance.now() < until) {
      for (const { id } of this.changes.splice(0)) this.refuse(id, UNAVAILABLE);
      this.report({});
      await this.deps.wait(Math.min(POLL_MS, until - performance.now()));
    }
  }

  private async runSession(): Promise<void> {
    const { db, signal } = this.deps;
    const end = new AbortController();
    let session: ClusterSession | undefined;
    const onAbort = () => {
      if (session === undefined) end.abort();
      else setTimeout(() => end.abort(), STOP_MS).unref(); // the last counts are sent meanwhile
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      session = await ClusterSession.open(this.options.url, end.signal);
      const { daemon, usageSeen } = await joinFile(db, session);
      if (!(await session.lockDaemon(daemon))) throw new Error(IDENTITY_IN_USE);
      const run = { session, daemon, usageSeen, hasIdentity: false, reason: null, nextBeat: 0 };
      await this.join(run);
      await this.compareUsage(run);
      await session.onKeysChanged(() => this.deps.wake());
      while (!signal.aborted) {
        await this.step(run);
        await this.deps.wait(POLL_MS);
      }
      await this.sendUsage(run);
      await leaveCluster(session, daemon);
    } finally {
      signal.removeEventListener('abort', onAbort);
      await session?.close();
    }
  }

  /** Registers this daemon and compares its index with the others', once it has a block. */
  private async join(run: SessionRun): Promise<void> {
    const { log } = this.deps;
    const identity = this.deps.identity();
    const { name, program, tiers } = this.options;
    const { idsAt } = this.deps;
    const own = { id: run.daemon, name, program, tiers, identity, idsAt };
    const { mismatch, otherTiers, otherTrades } = await joinCluster(run.session, own, !this.isCompared);
    run.hasIdentity = identity !== null;
    this.isCompared ||= run.hasIdentity;
    run.reason = mismatch === null ? null : OTHER_IDS;
    if (mismatch !== null)
      log.error({ reason: mismatch }, 'daemons that share the keys assign different ids');
    if (otherTiers.length > 0)
      log.warn(
        { daemons: otherTiers },
        'daemons that share the keys have different [tiers.*]; configure the same on all',
      );
    if (otherTrades.length > 0)
      log.warn(
        { daemons: otherTrades },
        'daemons that share the keys tell trades by different lists; configure the same [trades] on all',
      );
  }

  /** Determines how much of this daemon's counts PostgreSQL has: all, unless one side lost some. */
  private async compareUsage({ session, daemon }: SessionRun): Promise<void> {
    const { db, post } = this.deps;
    const [own, sent] = [ownMonths(db), await sentMonths(session, daemon)];
    const newest = Math.max(0, ...own.keys());
    for (const month of new Set([...own.keys(), ...sent.keys()])) {
      if (month !== newest && own.get(month) === sent.get(month)) continue;
      const lost = this.outbox.compare(ownUsage(db, month), await sentUsage(session, daemon, month));
      if (lost.length > 0) post({ kind: 'lost', rows: lost });
    }
  }

  private async step(run: SessionRun): Promise<void> {
    const { db, post, log } = this.deps;
    const { session } = run;
    await this.makeChanges(session);
    await this.sendUsage(run);
    await updateKeys(db, session);
    await this.fetchUsage(run);
    if (!run.hasIdentity && this.deps.identity() !== null) await this.join(run);
    if (performance.now() >= run.nextBeat) {
      run.nextBeat = performance.now() + BEAT_MS;
      this.status = { ...this.status, daemons: await beat(session, run.daemon) };
    }
    if (this.status.state !== 'joined') log.info({}, 'keys are shared through PostgreSQL');
    this.report({ state: 'joined', reason: run.reason, lastSyncAt: Date.now() });
    if (!this.isJoined) post({ kind: 'joined' });
    this.isJoined = true;
  }

  private async makeChanges(session: ClusterSession): Promise<void> {
    const { db, post } = this.deps;
    for (let next = this.changes.shift(); next !== undefined; next = this.changes.shift()) {
      const { id, change } = next;
      try {
        const outcome = await changeKey(session, change);
        if (outcome instanceof RequestError) this.refuse(id, outcome);
        else {
          cacheKeys(db, [outcome], null);
          post({ kind: 'changed', id, row: outcome });
        }
      } catch (error) {
        this.refuse(id, UNCONFIRMED);
        throw error;
      }
    }
  }

  private async sendUsage({ session, daemon }: SessionRun): Promise<void> {
    for (;;) {
      const totals = this.outbox.unsent(USAGE_PER_PAGE);
      if (totals.length === 0) return;
      await sendUsage(session, daemon, totals);
      this.outbox.noteSent(totals);
    }
  }

  private async fetchUsage(run: SessionRun): Promise<void> {
    for (;;) {
      const { totals, seen, isLast } = await usageElsewhere(run.session, run.daemon, run.usageSeen);
      run.usageSeen = seen;
      if (totals.length > 0) this.deps.post({ kind: 'elsewhere', totals, seen });
      if (isLast) return;
    }
  }

  private refuse(id: number, { status, code, message }: RequestError): void {
    this.deps.post({ kind: 'unchanged', id, refused: { status, code, message } });
  }

  private report(changes: Partial<ClusterStatus>): void {
    this.status = { ...this.status, ...changes, unsentRequests: this.outbox.unsentRequests };
    this.deps.post({ kind: 'status', status: this.status });
  }
}

interface SessionRun {
  readonly session: ClusterSession;
  readonly daemon: string;
  /** Highest usage version read. */
  usageSeen: number;
  /** Whether the daemon's row has its index's identity. */
  hasIdentity: boolean;
  /** What is wrong although the session works. */
  reason: string | null;
  nextBeat: number;
}

const OTHER_IDS = 'this daemon assigns different ids than another one that shares its keys: see the log';

const UNAVAILABLE = new RequestError(
  503,
  'postgres_unavailable',
  'PostgreSQL is unavailable, so keys cannot be changed: see "cluster" in /status',
);

const UNCONFIRMED = new RequestError(
  503,
  'postgres_unavailable',
  'PostgreSQL did not confirm the change: check the list of keys',
);
