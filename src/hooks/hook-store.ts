/** Hooks in `hooks.db`, as seen by the command line, the panel and the delivery thread. */
import { randomBytes } from 'node:crypto';
import type { KnownBlock } from '../follower/outcome.ts';
import type { Position, TrailCursor } from '../follower/trail.ts';
import { RequestError } from '../lib/errors.ts';
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';
import type { BlockRef } from '../model/block.ts';
import { NO_REWRITES } from '../model/rewrites.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { toStorageError } from '../store/storage-error.ts';
import type { HookChange, HookFormat, HookSpec } from './hook-spec.ts';
import { AddressLists, HOOKS_ADVICE, openHooksFile } from './hooks-file.ts';
import { type RevocableEvents, type RevocablePart, RevocableParts } from './revocable-parts.ts';
import { SettledEvents, type Vanished } from './settled-events.ts';
import { packTrail, unpackTrail } from './trail-bytes.ts';

/** Most hooks per daemon. Bounds its connections and its threads' memory. */
const MAX_HOOKS = 1_000;

/** An old secret signs deliveries for this long after a rotation, milliseconds. */
const OLD_SECRET_MS = 24 * 3_600_000;
/** Most old secrets: bounds the header with the signatures. */
const MAX_OLD_SECRETS = 3;

/** A secret before its replacement takes over. */
export interface OldSecret {
  secret: string;
  /** Unix milliseconds. */
  until: number;
}

export interface Hook {
  id: number;
  name: string;
  key: number | null;
  url: string;
  format: HookFormat;
  chat: string | null;
  secret: string;
  /** Replaced secrets, newest first. */
  oldSecrets: readonly OldSecret[];
  /** JSON. */
  filter: string;
  confirmations: number;
  finality: 0 | 1;
  state: 'active' | 'paused';
  reason: string | null;
  createdAt: number;
  /** The first block whose events it gets; null for a hook of an earlier version, which did not store it. */
  firstBlock: number | null;
  cursor: TrailCursor;
  failingSince: number | null;
  failures: number;
  nextAttemptAt: number | null;
  lastError: string | null;
  lastSuccessAt: number | null;
  delivered: number;
  testRequestedAt: number | null;
  testResult: string | null;
}

type HookRow = Omit<Hook, 'cursor' | 'oldSecrets'> & {
  number: number;
  hash: Buffer | null;
  position: number | null;
  oldSecrets: string | null;
};

const COLUMNS = /* sql */ `
  id, name, key, url, format, chat, secret, old_secrets AS oldSecrets, filter, confirmations, finality, state, reason,
  created_at AS createdAt, first_block AS firstBlock, cursor_block AS number, cursor_hash AS hash,
  cursor_position AS position, failing_since AS failingSince, failures,
  next_attempt_at AS nextAttemptAt, last_error AS lastError, last_success_at AS lastSuccessAt, delivered,
  test_requested_at AS testRequestedAt, test_result AS testResult`;

/** The changes when a receiver accepts a delivery. */
export interface Accepted {
  cursor: Position;
  /** Number of events in the delivery. */
  count: number;
  /** Blocks up to here are beyond any reorg. */
  finalUpTo: number;
  /** Whether final events are kept, to be withdrawn after a repair. */
  keepsFinal: boolean;
}

/** SQL: a hook that does not fail. */
const NO_FAILURES = 'failing_since = NULL, failures = 0, next_attempt_at = NULL';

export function openHookStore(path: string): HookStore {
  return new HookStore(openHooksFile(path));
}

export class HookStore {
  readonly db: Db;
  readonly lists: AddressLists;
  readonly parts: RevocableParts;
  readonly settled: SettledEvents;
  private readonly selectOne: Statement<[number], HookRow>;
  private readonly selectAll: Statement<[], HookRow>;

  constructor(db: Db) {
    this.db = db;
    this.lists = new AddressLists(db);
    this.parts = new RevocableParts(db);
    this.settled = new SettledEvents(db);
    this.selectOne = db.prepare(`SELECT ${COLUMNS} FROM hooks WHERE id = ?`);
    this.selectAll = db.prepare(`SELECT ${COLUMNS} FROM hooks ORDER BY id`);
  }

  /** Changes when another connection has written to the file. */
  get version(): unknown {
    return this.db.pragma('data_version', { simple: true });
  }

  list(): Hook[] {
    return this.selectAll.all().map(toHook);
  }

  hasActive(): boolean {
    return this.db.prepare(`SELECT 1 FROM hooks WHERE state = 'active' LIMIT 1`).get() !== undefined;
  }

  /** Throws RequestError `not_found`. */
  get(id: number): Hook {
    const row = this.selectOne.get(id);
    if (row === undefined) throw new RequestError(404, 'not_found', `there is no hook ${id}`);
    return toHook(row);
  }

  find(id: number): Hook | undefined {
    const row = this.selectOne.get(id);
    return row && toHook(row);
  }

  /**
   * Creates a hook. It starts after block `head` unless the spec names another one; `trail` are the blocks below
   * `head`.
   * `limit` bounds the hooks of its owner; 0 means no limit. Throws RequestError `tier_limit`.
   */
  create(
    spec: HookSpec,
    head: BlockRef | null,
    limit: number,
    trail: readonly KnownBlock<Hex>[] | null = null,
  ): Hook {
    const isAtHead = spec.fromBlock === null && head !== null;
    const start: Position = isAtHead
      ? { number: head.number, hash: head.hash, position: null, trail, mark: NO_REWRITES }
      : { number: (spec.fromBlock ?? 0) - 1, hash: null, position: null, trail: [], mark: NO_REWRITES };
    return this.write(() => {
      this.requireRoom(spec.key, limit);
      const { lastInsertRowid } = this.db
        .prepare(/* sql */ `
          INSERT INTO hooks (name, key, url, format, chat, secret, filter, confirmations, finality, state, created_at,
            first_block, cursor_block)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, ?, ?)`)
        .run(
          spec.name,
          spec.key,
          spec.url,
          spec.format,
          spec.chat,
          newSecret(),
          JSON.stringify(spec.filter),
          spec.confirmations,
          spec.finality ? 1 : 0,
          Date.now(),
          start.number + 1,
          start.number,
        );
      const id = Number(lastInsertRowid);
      this.setPosition(id, start);
      return this.get(id);
    });
  }

  private requireRoom(key: number | null, limit: number): void {
    const count = (where: string, ...values: unknown[]): number =>
      this.db
        .prepare<unknown[], number>(`SELECT count(*) FROM hooks ${where}`)
        .pluck()
        .get(...values) ?? 0;
    if (count('') >= MAX_HOOKS)
      throw new RequestError(403, 'tier_limit', `there are ${MAX_HOOKS} hooks already: delete some`);
    if (key !== null && limit > 0 && count('WHERE key = ?', key) >= limit)
      throw new RequestError(
        403,
        'tier_limit',
        `key ${key} may have at most ${limit} hooks (max_hooks of its tier)`,
      );
  }

  pause(id: number, reason: string): Hook {
    return this.change(id, `state = 'paused', reason = ?`, reason);
  }

  /** Resumes a paused hook where it stopped. */
  resume(id: number): Hook {
    return this.change(id, `state = 'active', reason = NULL, ${NO_FAILURES}`);
  }

  /** Changes the given members. The hook continues where it is; a new URL is tried at once. */
  update(id: number, { url, filter }: HookChange): Hook {
    return this.write(() => {
      if (filter !== undefined) this.change(id, 'filter = ?', JSON.stringify(filter));
      return url === undefined ? this.get(id) : this.change(id, `url = ?, ${NO_FAILURES}`, url);
    });
  }

  /** Gives a hook a new secret. The old one signs too for a day, so that the receiver may change in between. */
  rotate(id: number, now = Date.now()): Hook {
    return this.write(() => {
      const { secret, oldSecrets } = this.get(id);
      const old = [{ secret, until: now + OLD_SECRET_MS }, ...oldSecrets.filter(({ until }) => until > now)];
      const kept = JSON.stringify(old.slice(0, MAX_OLD_SECRETS));
      return this.change(id, 'secret = ?, old_secrets = ?', newSecret(), kept);
    });
  }

  /** Pauses the hooks of a key that is no longer valid. */
  pauseOfKey(key: number): void {
    this.write(() =>
      this.db
        .prepare(
          `UPDATE hooks SET state = 'paused', reason = 'its key was revoked' WHERE key = ? AND state = 'active'`,
        )
        .run(key),
    );
  }

  delete(id: number): Hook {
    return this.write(() => {
      const hook = this.get(id);
      this.db.prepare('DELETE FROM hooks WHERE id = ?').run(id);
      this.parts.forgetAll(id);
      this.settled.forgetAll(id);
      return hook;
    });
  }

  requestTest(id: number): Hook {
    return this.change(id, 'test_requested_at = ?, test_result = NULL', Date.now());
  }

  saveTestResult(id: number, result: string): void {
    this.write(() => this.set(id, 'test_requested_at = NULL, test_result = ?', result));
  }

  /** How far the receiver has accepted events, and on which branch. Undefined if the hook is gone. */
  position(id: number): Position | undefined {
    const hook = this.find(id);
    const stored = this.db
      .prepare<[number], { trail: Buffer | null; mark: string }>('SELECT trail, mark FROM hooks WHERE id = ?')
      .get(id);
    if (hook === undefined || stored === undefined) return undefined;
    const { trail, mark } = stored;
    return { ...hook.cursor, trail: trail && unpackTrail(trail), mark };
  }

  /** Moves the cursor over blocks without events of the hook. */
  advance(id: number, position: Position): void {
    this.write(() => this.setPosition(id, position));
  }

  /**
   * Records the events that a delivery is about to send from `cursor` on. Call it before sending: a receiver may accept
   * a delivery that the daemon then believes to have failed.
   */
  saveAttempt(id: number, cursor: TrailCursor, revocable: readonly RevocableEvents[]): void {
    this.write(() => this.parts.add(id, cursor, revocable));
  }

  saveAccepted(id: number, { cursor, count, finalUpTo, keepsFinal }: Accepted): void {
    this.write(() => {
      this.setPosition(id, cursor);
      this.recordSuccess(id, count);
      this.settled.confirm(id, lastPassed(cursor));
      for (const { block, events } of this.parts.takeUpTo(id, Math.min(finalUpTo, cursor.number)))
        if (keepsFinal) this.settled.add(id, block, events);
    });
  }

  saveFailure(id: number, error: string, nextAttemptAt: number): void {
    this.write(() =>
      this.set(
        id,
        'failing_since = coalesce(failing_since, ?), failures = failures + 1, next_attempt_at = ?, last_error = ?',
        Date.now(),
        nextAttemptAt,
        error,
      ),
    );
  }

  /** Call it before the first event of these parts is withdrawn: their blocks may be back before the last one is. */
  beginWithdrawal(parts: readonly RevocablePart[]): void {
    this.write(() => this.parts.beginWithdrawal(parts));
  }

  /**
   * Keeps only the events `left` of each part. Once everything is withdrawn, sets the cursor: the events of blocks from
   * `from` on come again.
   */
  saveWithdrawn(
    id: number,
    count: number,
    parts: readonly { id: number; left: readonly object[] }[],
    resumed: { cursor: Position; from: number } | null,
  ): void {
    this.write(() => {
      for (const part of parts) this.parts.keep(part.id, part.left);
      if (count > 0) this.recordSuccess(id, count);
      if (resumed === null) return;
      this.setPosition(id, resumed.cursor);
      this.settled.doubt(id, resumed.from);
    });
  }

  /** Records that the receiver accepted the withdrawal of events that do not come again. */
  saveVanished(id: number, { deliveries, rows }: Vanished): void {
    this.write(() => {
      for (const row of rows) this.settled.keep(row.id, row.left);
      this.recordSuccess(id, deliveries.length);
    });
  }

  private recordSuccess(id: number, count: number): void {
    const changes = `${NO_FAILURES}, last_error = NULL, last_success_at = ?, delivered = delivered + ?`;
    this.set(id, changes, Date.now(), count);
  }

  private setPosition(id: number, { number, hash, position, trail, mark }: Position): void {
    this.set(
      id,
      'cursor_block = ?, cursor_hash = ?, cursor_position = ?, trail = ?, mark = ?',
      number,
      hash && hexToBytes(hash),
      position,
      trail && packTrail(trail),
      mark,
    );
  }

  /** Throws RequestError `not_found`. */
  private change(id: number, changes: string, ...values: unknown[]): Hook {
    return this.write(() => {
      this.get(id);
      this.set(id, changes, ...values);
      return this.get(id);
    });
  }

  private set(id: number, changes: string, ...values: unknown[]): void {
    this.db.prepare(`UPDATE hooks SET ${changes} WHERE id = ?`).run(...values, id);
  }

  /** Runs a transaction. Throws StorageError when the file cannot be written, such as on a full disk. */
  private write<T>(action: () => T): T {
    try {
      return this.db.inTransaction ? action() : this.db.transaction(action).immediate();
    } catch (error) {
      throw toStorageError(error, this.db.name, HOOKS_ADVICE);
    }
  }

  counts(): { active: number; paused: number; failing: number } {
    const row = this.db
      .prepare<[], { active: number; paused: number; failing: number }>(/* sql */ `
        SELECT count(*) FILTER (WHERE state = 'active') AS active, count(*) FILTER (WHERE state = 'paused') AS paused,
          count(*) FILTER (WHERE state = 'active' AND failures > 0) AS failing FROM hooks`)
      .get();
    return row ?? { active: 0, paused: 0, failing: 0 };
  }

  close(): void {
    this.db.close();
  }
}

/** The last block of which a cursor has passed everything. */
export function lastPassed({ number, position }: TrailCursor): number {
  return position === null ? number : number - 1;
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function toHook({ number, hash, position, oldSecrets, ...row }: HookRow): Hook {
  const cursor = { number, hash: hash && bytesToHex(hash), position };
  return { ...row, oldSecrets: JSON.parse(oldSecrets ?? '[]'), cursor };
}

/** The secrets that sign a message of the hook: its own, then the old ones that still count. */
export function signingSecrets({ secret, oldSecrets }: Pick<Hook, 'secret' | 'oldSecrets'>): string[] {
  const now = Date.now();
  return [secret, ...oldSecrets.filter(({ until }) => until > now).map((old) => old.secret)];
}
