/** Hooks in `hooks.db`, as seen by the command line, the panel and the delivery thread. */
import { randomBytes } from 'node:crypto';
import { RequestError } from '../lib/errors.ts';
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';
import type { BlockRef } from '../model/block.ts';
import type { Db, Statement } from '../store/open-database.ts';
import type { Delivery } from './delivery.ts';
import type { HookFormat, HookSpec } from './hook-spec.ts';
import { AddressLists, openHooksFile } from './hooks-file.ts';

/** Most hooks per daemon. Bounds its connections and its threads' memory. */
const MAX_HOOKS = 1_000;

/** How far a receiver has accepted events. */
export interface HookCursor {
  block: number;
  /** Null if the index did not have the block yet. */
  hash: Hex | null;
  /** Number of processed transfers of the block; null for all. */
  position: number | null;
}

export interface Hook {
  id: number;
  name: string;
  key: number | null;
  url: string;
  format: HookFormat;
  chat: string | null;
  secret: string;
  /** JSON. */
  filter: string;
  confirmations: number;
  finality: 0 | 1;
  state: 'active' | 'paused';
  reason: string | null;
  createdAt: number;
  cursor: HookCursor;
  failingSince: number | null;
  failures: number;
  nextAttemptAt: number | null;
  lastError: string | null;
  lastSuccessAt: number | null;
  delivered: number;
  testRequestedAt: number | null;
  testResult: string | null;
}

type Row = Omit<Hook, 'cursor'> & { block: number; hash: Buffer | null; position: number | null };

const COLUMNS = /* sql */ `
  id, name, key, url, format, chat, secret, filter, confirmations, finality, state, reason, created_at AS createdAt,
  cursor_block AS block, cursor_hash AS hash, cursor_position AS position, failing_since AS failingSince, failures,
  next_attempt_at AS nextAttemptAt, last_error AS lastError, last_success_at AS lastSuccessAt, delivered,
  test_requested_at AS testRequestedAt, test_result AS testResult`;

/** Events of one block that were sent together and that a reorg may still withdraw. */
export interface RevocableEvents {
  block: number;
  hash: Hex;
  /** In delivery order. */
  events: readonly Delivery[];
}

/** A stored `RevocableEvents`. */
export interface RevocablePart {
  id: number;
  block: number;
  hash: Hex;
  /** Whether their withdrawal has begun. */
  withdrawn: boolean;
}

/** The changes when a receiver accepts a delivery. */
export interface Accepted {
  cursor: HookCursor;
  /** Number of events in the delivery. */
  count: number;
  /** Blocks up to here are beyond any reorg. */
  finalUpTo: number;
}

export function openHookStore(path: string): HookStore {
  return new HookStore(openHooksFile(path));
}

export class HookStore {
  readonly db: Db;
  readonly lists: AddressLists;
  private readonly selectOne: Statement<[number], Row>;
  private readonly selectAll: Statement<[], Row>;

  constructor(db: Db) {
    this.db = db;
    this.lists = new AddressLists(db);
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
   * Creates a hook. It starts after block `head` unless the spec names another one. `limit` bounds the hooks of its
   * owner; 0 means no limit. Throws RequestError `tier_limit`.
   */
  create(spec: HookSpec, head: BlockRef | null, limit: number): Hook {
    return this.db
      .transaction(() => {
        this.requireRoom(spec.key, limit);
        const { fromBlock } = spec;
        const begin = fromBlock ?? (head === null ? 0 : head.number + 1);
        const hash = fromBlock === null && head !== null ? hexToBytes(head.hash) : null;
        const { lastInsertRowid } = this.db
          .prepare(/* sql */ `
            INSERT INTO hooks (name, key, url, format, chat, secret, filter, confirmations, finality, state, created_at,
              cursor_block, cursor_hash)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, ?, ?)`)
          .run(
            spec.name,
            spec.key,
            spec.url,
            spec.format,
            spec.chat,
            `whsec_${randomBytes(32).toString('base64')}`,
            JSON.stringify(spec.filter),
            spec.confirmations,
            spec.finality ? 1 : 0,
            Date.now(),
            begin - 1,
            hash,
          );
        return this.get(Number(lastInsertRowid));
      })
      .immediate();
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
    this.get(id);
    this.db.prepare(`UPDATE hooks SET state = 'paused', reason = ? WHERE id = ?`).run(reason, id);
    return this.get(id);
  }

  /** Resumes a paused hook where it stopped. */
  resume(id: number): Hook {
    this.get(id);
    this.db
      .prepare(/* sql */ `
        UPDATE hooks SET state = 'active', reason = NULL, failing_since = NULL, failures = 0, next_attempt_at = NULL
        WHERE id = ?`)
      .run(id);
    return this.get(id);
  }

  /** Pauses the hooks of a key that is no longer valid. */
  pauseOfKey(key: number): void {
    this.db
      .prepare(
        `UPDATE hooks SET state = 'paused', reason = 'its key was revoked' WHERE key = ? AND state = 'active'`,
      )
      .run(key);
  }

  delete(id: number): Hook {
    const hook = this.get(id);
    this.db
      .transaction(() => {
        this.db.prepare('DELETE FROM hooks WHERE id = ?').run(id);
        this.db.prepare('DELETE FROM revocable WHERE hook = ?').run(id);
      })
      .immediate();
    return hook;
  }

  requestTest(id: number): Hook {
    this.get(id);
    this.db
      .prepare('UPDATE hooks SET test_requested_at = ?, test_result = NULL WHERE id = ?')
      .run(Date.now(), id);
    return this.get(id);
  }

  saveTestResult(id: number, result: string): void {
    this.db
      .prepare('UPDATE hooks SET test_requested_at = NULL, test_result = ? WHERE id = ?')
      .run(result, id);
  }

  /** Moves the cursor over blocks without events of the hook. */
  advance(id: number, { block, hash, position }: HookCursor): void {
    this.db
      .prepare('UPDATE hooks SET cursor_block = ?, cursor_hash = ?, cursor_position = ? WHERE id = ?')
      .run(block, hash && hexToBytes(hash), position, id);
  }

  /**
   * Records the events that a delivery is about to send from `cursor` on, without those of earlier attempts. Call it
   * before sending: a receiver may accept a delivery that the daemon then believes to have failed.
   */
  saveAttempt(id: number, cursor: HookCursor, revocable: readonly RevocableEvents[]): void {
    const insert = this.db.prepare(
      'INSERT INTO revocable (hook, block, hash, withdrawn, events) VALUES (?, ?, ?, 0, ?)',
    );
    this.db
      .transaction(() => {
        const parts = this.attemptedParts(id, cursor);
        const known = new Set(
          parts.flatMap((part) => this.readRevocable(part.id).map(({ deliveryId }) => deliveryId)),
        );
        for (const { block, hash, events } of revocable) {
          const added = events.filter(({ deliveryId }) => !known.has(deliveryId));
          if (added.length > 0) insert.run(id, block, hexToBytes(hash), JSON.stringify(added));
        }
      })
      .immediate();
  }

  saveAccepted(id: number, { cursor, count, finalUpTo }: Accepted): void {
    this.db
      .transaction(() => {
        this.advance(id, cursor);
        this.recordSuccess(id, count);
        this.db
          .prepare('DELETE FROM revocable WHERE hook = ? AND block <= ? AND withdrawn = 0')
          .run(id, finalUpTo);
      })
      .immediate();
  }

  private recordSuccess(id: number, count: number): void {
    this.db
      .prepare(/* sql */ `
        UPDATE hooks SET failing_since = NULL, failures = 0, next_attempt_at = NULL, last_error = NULL,
          last_success_at = ?, delivered = delivered + ? WHERE id = ?`)
      .run(Date.now(), count, id);
  }

  saveFailure(id: number, error: string, nextAttemptAt: number): void {
    this.db
      .prepare(/* sql */ `
        UPDATE hooks SET failing_since = coalesce(failing_since, ?), failures = failures + 1, next_attempt_at = ?,
          last_error = ? WHERE id = ?`)
      .run(Date.now(), nextAttemptAt, error, id);
  }

  /** The parts sent from `cursor` on, whose acceptance is unknown. In the middle of a block also its accepted parts. */
  attemptedParts(id: number, { block, position }: HookCursor): RevocablePart[] {
    return this.revocableParts(id, position === null ? block + 1 : block);
  }

  /** The parts of blocks from `from` on, in reverse delivery order. */
  revocableParts(id: number, from = 0): RevocablePart[] {
    return this.db
      .prepare<[number, number], { id: number; block: number; hash: Buffer; withdrawn: number }>(
        'SELECT id, block, hash, withdrawn FROM revocable WHERE hook = ? AND block >= ? ORDER BY id DESC',
      )
      .all(id, from)
      .map((row) => ({ ...row, hash: bytesToHex(row.hash), withdrawn: row.withdrawn === 1 }));
  }

  isWithdrawing(id: number): boolean {
    return (
      this.db.prepare('SELECT 1 FROM revocable WHERE hook = ? AND withdrawn = 1 LIMIT 1').get(id) !==
      undefined
    );
  }

  readRevocable(part: number): Record<string, unknown>[] {
    const events = this.db
      .prepare<[number], string>('SELECT events FROM revocable WHERE id = ?')
      .pluck()
      .get(part);
    return JSON.parse(events ?? '[]');
  }

  /** Call it before the first event of these parts is withdrawn. */
  beginWithdrawal(parts: readonly RevocablePart[]): void {
    const mark = this.db.prepare('UPDATE revocable SET withdrawn = 1 WHERE id = ?');
    this.db
      .transaction(() => {
        for (const part of parts) mark.run(part.id);
      })
      .immediate();
  }

  /** Keeps only the first `left` events of each part. Sets `cursor` once everything is withdrawn. */
  saveWithdrawn(
    id: number,
    count: number,
    parts: readonly { id: number; left: readonly object[] }[],
    cursor: HookCursor | null,
  ): void {
    const update = this.db.prepare('UPDATE revocable SET events = ? WHERE id = ?');
    const remove = this.db.prepare('DELETE FROM revocable WHERE id = ?');
    this.db
      .transaction(() => {
        for (const part of parts) {
          if (part.left.length === 0) remove.run(part.id);
          else update.run(JSON.stringify(part.left), part.id);
        }
        if (count > 0) this.recordSuccess(id, count);
        if (cursor !== null) this.advance(id, cursor);
      })
      .immediate();
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

function toHook({ block, hash, position, ...row }: Row): Hook {
  return { ...row, cursor: { block, hash: hash && bytesToHex(hash), position } };
}

/**
 * A hook as shown by panel and command line: without its secret and without the parts of its URL that may be secret.
 */
export function hookJson(hook: Hook) {
  const { url, secret: _, filter, cursor, ...shown } = hook;
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    ...shown,
    url: redactUrl(url),
    filter: JSON.parse(filter),
    finality: hook.finality === 1,
    cursorBlock: cursor.block,
    createdAt: iso(hook.createdAt),
    failingSince: iso(hook.failingSince),
    nextAttemptAt: iso(hook.nextAttemptAt),
    lastSuccessAt: iso(hook.lastSuccessAt),
    testRequestedAt: iso(hook.testRequestedAt),
  };
}

/** Scheme, host and port. The rest may be secret. */
export function redactUrl(url: string): string {
  return `${new URL(url).origin}/...`;
}
