/** One process that runs queries, from its start to its end. Whatever goes wrong with it becomes one error. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { FatalError, messageOf, onOneLine } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import { killOnParentExit } from '../../lib/kill-on-parent-exit.ts';
import { QueryLimitError, QueryStartError } from '../query-refusal.ts';
import { type FromProcess, isFromProcess, type QueriedIndex, type SentQuery } from './protocol.ts';

/** A program and its arguments. */
export type Command = readonly [file: string, ...args: string[]];

export interface ChildEvents {
  onMessage(message: FromProcess): void;
  /** It ended by itself, or is ended because it does not work. Nothing follows. */
  onFailure(error: Error): void;
}

/** A process that ended may still have written why. */
const LAST_WORDS_MS = 200;
const LAST_WORDS_CHARACTERS = 2_000;

/** After `end` it reports nothing, so that a late answer is not taken for that of the next query. */
export class QueryChild {
  /** Resolves once the process is gone, or could not be started. */
  readonly gone: Promise<void>;
  private readonly setGone: () => void;
  private readonly events: ChildEvents;
  private readonly child: ChildProcess | null;
  private readonly startTimer: NodeJS.Timeout;
  private isReady = false;
  private isEnded = false;
  private onReady: () => void = () => undefined;
  private lastWords = '';

  /** It must be ready within `startMs`. */
  constructor(command: Command, startMs: number, events: ChildEvents) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    this.setGone = resolve;
    this.events = events;
    const late = () => this.fail(`was not ready after ${startMs / 1000} s`);
    this.startTimer = setTimeout(guarded('start of a query process', late), startMs).unref();
    this.child = this.start(command);
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Calls back once the process is ready, in place of an earlier callback. */
  whenReady(then: () => void): void {
    if (this.isReady) then();
    else this.onReady = then;
  }

  /** The index first, then a query at a time once it is ready. */
  send(message: QueriedIndex | SentQuery): void {
    this.child?.send(message, (error) => {
      if (error === null) return;
      // If the process has ended, its exit says why; that may arrive a little later.
      const unreachable = () => this.fail(`cannot be reached: ${messageOf(error)}`);
      setTimeout(guarded('message to a query process', unreachable), 2 * LAST_WORDS_MS).unref();
    });
  }

  end(): void {
    this.isEnded = true;
    clearTimeout(this.startTimer);
    this.child?.kill('SIGKILL');
  }

  /** Keeps this process alive until `gone`. */
  ref(): void {
    this.child?.ref();
  }

  private start([file, ...args]: Command): ChildProcess | null {
    try {
      const child = spawn(file, args, {
        // In a process group of its own: Ctrl-C at a terminal ends a query by the one that watches it.
        detached: true,
        env: { ...process.env, SQLITE_TMPDIR: tmpdir() },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        serialization: 'advanced', // parameters may be bigints
      });
      this.listen(child);
      return child;
    } catch (error) {
      setImmediate(() => this.noteStartError(error)); // later, as for the errors that are events
      return null;
    }
  }

  private listen(child: ChildProcess): void {
    killOnParentExit(child);
    child.stderr?.setEncoding('utf8').on('error', () => undefined);
    child.stderr?.on('data', (text: string) => {
      this.lastWords = (this.lastWords + text).slice(-LAST_WORDS_CHARACTERS);
    });
    const receive = (message: unknown) => this.receive(message);
    child.on('message', guarded('message of a query process', receive));
    child.on('error', (error) => {
      if (child.pid === undefined) this.noteStartError(error);
      else this.fail(`cannot be reached: ${messageOf(error)}`);
    });
    const noteEnd = () => this.noteEnd(child);
    child.on('exit', () => {
      this.setGone();
      setTimeout(noteEnd, LAST_WORDS_MS).unref(); // a command that has its answer ends at once
    });
    child.on('close', noteEnd);
    child.on('disconnect', () => setTimeout(noteEnd, LAST_WORDS_MS).unref());
    child.unref();
    child.channel?.unref();
    if (child.stderr instanceof Socket) child.stderr.unref();
  }

  private noteStartError(error: unknown): void {
    this.setGone();
    this.fail(`cannot be started: ${messageOf(error)}`);
  }

  private receive(message: unknown): void {
    if (this.isEnded) return;
    if (!isFromProcess(message)) return this.fail('sent no message of this release: restart atlas-node');
    if ('failed' in message) return this.failWith(message.failed);
    if ('ready' in message) {
      this.isReady = true;
      clearTimeout(this.startTimer);
      this.onReady();
    }
    this.events.onMessage(message);
  }

  /** It ended, or closed its channel. */
  private noteEnd({ signalCode, exitCode }: ChildProcess): void {
    if (this.isEnded) return;
    const isOutOfMemory = /heap|memory|allocation/i.test(this.lastWords);
    if ((isOutOfMemory || signalCode === 'SIGKILL') && this.isReady) {
      this.end();
      const what = isOutOfMemory
        ? 'the query needed more memory than there is'
        : 'its process was killed, as the system does where memory runs out';
      return this.events.onFailure(new QueryLimitError(`ended: ${what}`));
    }
    const how =
      signalCode !== null
        ? `ended with ${signalCode}`
        : exitCode === null
          ? 'closed its channel'
          : `ended with code ${exitCode}`;
    const lastLine = onOneLine(this.lastWords.trim().split('\n').at(-1) ?? '').slice(0, 200);
    this.fail(lastLine === '' ? how : `${how}: ${lastLine}`);
  }

  private fail(what: string): void {
    this.failWith(`the process for queries ${what}`);
  }

  private failWith(message: string): void {
    if (this.isEnded) return;
    const error = this.isReady ? new FatalError(message) : new QueryStartError(message);
    this.end();
    this.events.onFailure(error);
  }
}
