/**
 * One connection to PostgreSQL: bounded waits, an end at any moment, transactions that a lost connection cannot split.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { abortWith } from '../lib/async.ts';
import { messageOf } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { type PostgresAddress, PostgresSetupError, parseAddress } from './address.ts';
import { openSocket } from './socket.ts';
import { lost } from './tls.ts';

const CONNECT_TIMEOUT_SECONDS = 10;

/** Time for the last bytes of a closed connection to leave, milliseconds. */
const FAREWELL_MS = 500;

export interface ConnectionOptions {
  /** Shown in PostgreSQL's list of sessions. */
  name: string;
  /** The setting that holds the URL, for messages. */
  setting: string;
  /** Longest wait for an answer before the connection counts as dead, milliseconds. */
  answerTimeoutMs: number;
  /** Ends the connection at once, whatever it waits for. */
  signal?: AbortSignal | undefined;
}

/** The SQL of the connection. */
export type Sql = postgres.Sql;

export class PostgresConnection {
  readonly sql: Sql;
  private readonly url: string;
  private readonly options: ConnectionOptions;
  private readonly address: PostgresAddress;
  /** Aborts with the reason when no more answers will come. */
  private readonly ended = new AbortController();
  /** One for statements, one for notifications. */
  private readonly sockets = new Set<Socket>();
  /** Sockets opened since the last answer. */
  private attempts = 0;
  private readonly unfollow: () => void;
  private shutting: Promise<void> | undefined;

  /** The first statement connects. Throws PostgresSetupError for a URL that cannot be used. */
  constructor(url: string, options: ConnectionOptions) {
    this.url = url;
    this.options = options;
    this.address = parseAddress(url, options.setting);
    this.sql = postgres(this.packageOptions());
    this.ended.signal.addEventListener('abort', () => void this.shut(), { once: true });
    this.unfollow = options.signal ? abortWith(this.ended, options.signal) : () => undefined;
  }

  /** The setting that holds the URL. */
  get setting(): string {
    return this.options.setting;
  }

  /** A second connection like this one. */
  sibling(): PostgresConnection {
    return new PostgresConnection(this.url, { ...this.options, signal: this.ended.signal });
  }

  private packageOptions(): postgres.Options<Record<string, never>> & { socket(): Promise<Socket> } {
    const { hosts, port, user, password, database, targetSession, session } = this.address;
    return {
      host: hosts.join(','), // for messages, and to know whether there is another one
      port,
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
      ...(database !== undefined && { database }),
      ssl: false, // the sockets are encrypted already
      socket: () => this.openSocket(),
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_SECONDS,
      keep_alive: 10,
      max_lifetime: null,
      fetch_types: false,
      prepare: false, // behind a pooler, the search path may differ between transactions
      onnotice: () => undefined,
      // A new connection would have neither the locks nor the transaction, so nothing may run on it.
      onclose: guarded('connection to PostgreSQL', () => this.end(lost())),
      connection: { application_name: this.options.name, ...session },
      // One server that is not what it should be says so itself.
      ...(hosts.length > 1 && isTargetSession(targetSession) && { target_session_attrs: targetSession }),
    };
  }

  /**
   * Runs statements that commit together; `run` bounds its waits with `within`. After a failure, close the connection,
   * which rolls back: a ROLLBACK on a lost connection makes the package fail where nobody can catch the error.
   */
  async transaction<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    const { sql } = this;
    await this.within(sql`BEGIN`);
    const result = await run(sql);
    const { command } = await this.within(sql`COMMIT`);
    // PostgreSQL's answer to the COMMIT of a transaction that it has aborted.
    if (command !== 'COMMIT') throw new Error(`PostgreSQL answered COMMIT with ${command}`);
    return result;
  }

  /** Gives up waiting for an answer after the time limit, or when the connection ends; `close` it then. */
  async within<T>(answer: Promise<T>, timeoutMs = this.options.answerTimeoutMs): Promise<T> {
    const stop = new AbortController();
    const unfollow = abortWith(stop, this.ended.signal);
    const late = sleep(timeoutMs, undefined, { signal: stop.signal }).then(
      () => {
        throw Object.assign(new Error(`PostgreSQL did not answer within ${timeoutMs / 1000} s`), {
          code: 'ETIMEDOUT',
        });
      },
      () => {
        throw stop.signal.reason;
      },
    );
    late.catch(() => undefined);
    try {
      const result = await Promise.race([answer, late]);
      this.attempts = 0;
      return result;
    } finally {
      unfollow();
      stop.abort();
      answer.catch(() => undefined); // after the time limit, its failure is the connection's
    }
  }

  /** Ends the connection at once, also one that is being opened. The server rolls back uncommitted work. */
  close(): Promise<void> {
    this.unfollow();
    this.end(lost());
    return this.shut();
  }

  private end(reason: unknown): void {
    this.ended.abort(reason);
  }

  private shut(): Promise<void> {
    this.shutting ??= this.endPackage();
    return this.shutting;
  }

  private async endPackage(): Promise<void> {
    await this.sql.end({ timeout: 0 });
    for (const socket of this.sockets) {
      socket.destroySoon();
      // A peer that reads nothing would keep the socket, and with it the thread.
      setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
    }
  }

  /** The next host that accepts a connection. Ends this one when there is none, because the package would wait. */
  private async openSocket(): Promise<Socket> {
    const { hosts } = this.address;
    const { signal } = this.ended;
    const limit = new AbortController();
    const unfollow = abortWith(limit, signal);
    const timer = setTimeout(() => limit.abort(connectTimeout()), CONNECT_TIMEOUT_SECONDS * 1000);
    try {
      let failure: unknown = lost();
      while (this.attempts < hosts.length) {
        const host = hosts[this.attempts++]!;
        try {
          return this.track(await openSocket(this.address, host, this.options.setting, limit.signal));
        } catch (error) {
          failure = error;
          if (limit.signal.aborted || error instanceof PostgresSetupError) break;
        }
      }
      throw failure;
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(messageOf(error));
      this.end(reason);
      throw reason;
    } finally {
      clearTimeout(timer);
      unfollow();
    }
  }

  private track(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }
}

function connectTimeout(): Error {
  return Object.assign(new Error(`PostgreSQL did not answer within ${CONNECT_TIMEOUT_SECONDS} s`), {
    code: 'CONNECT_TIMEOUT',
  });
}

const TARGETS = ['read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

function isTargetSession(text: string | undefined): text is (typeof TARGETS)[number] {
  return TARGETS.some((target) => target === text);
}
