/**
 * The handle on a thread: starts it, talks to it, starts it again after a failure, and stops it within a time limit.
 */
import type { Worker } from 'node:worker_threads';
import { backoffMs } from '../lib/async.ts';
import { ConfigError, FatalError, messageOf, stackOf } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { settingNames } from '../lib/setting-name.ts';
import type { ThreadLog } from '../log/logger.ts';
import { endThread, THREAD_STOP_MS } from './end-thread.ts';
import type { DataOf, FromThread, ThreadCode, ThreadName, ToThread } from './entries.ts';
import type { FromThreadPort, StartData, ToThreadPort } from './messages.ts';
import { startThread } from './start-thread.ts';

/**
 * What follows a failure, or an end that nobody requested: another start after a growing delay; the end of whoever
 * awaits `ended`, with the thread's error; or the end of the program, with a FatalError or ConfigError.
 */
export type RestartPolicy = { firstMs: number; longestMs: number } | 'never' | 'fatal';

interface ThreadOptions<Name extends ThreadName> {
  /** What the thread starts with, also when it is started again. */
  data: () => DataOf<Name>;
  restart: RestartPolicy;
  onMessage(message: FromThread<Name>): void;
  /** The thread failed and is started again. */
  onFailure?(error: Error): void;
  /** The thread has ended, for whatever reason. */
  onExit?(): void;
  /** Gets the thread's lines, and one when the thread had to be terminated. */
  log: ThreadLog;
  /** For tests. */
  code?: ThreadCode;
}

export class ThreadHandle<Name extends ThreadName> {
  /**
   * Resolves when the thread has ended and is not started again. Rejects when it failed and the policy is `never` or
   * `fatal`.
   */
  readonly ended: Promise<void>;
  private readonly name: Name;
  private readonly options: ThreadOptions<Name>;
  private readonly settled = Promise.withResolvers<void>();
  private readonly stopFlag = new Int32Array(new SharedArrayBuffer(4));
  private thread: Worker | null = null;
  private startedAt = 0;
  private failures = 0;
  private restart: NodeJS.Timeout | undefined;
  private isStopping = false;
  private isDismissed = false;

  /** Throws FatalError when the system refuses another thread. */
  constructor(name: Name, options: ThreadOptions<Name>) {
    this.name = name;
    this.options = options;
    this.ended = this.settled.promise;
    this.ended.catch(() => undefined); // not unhandled: whoever needs it awaits it later
    this.start();
  }

  get isRunning(): boolean {
    return this.thread !== null;
  }

  /** Drops the message while the thread is not running. */
  post(message: ToThread<Name>): void {
    this.send({ message });
  }

  /** Lets the thread end without a successor. */
  dismiss(): void {
    this.isDismissed = true;
    clearTimeout(this.restart);
    if (this.thread === null) this.settled.resolve();
  }

  /**
   * Tells the thread to end. Resolves when it has; terminates it after `limitMs`, at once for 0. Never rejects. Can be
   * called again, with another limit.
   */
  async stop(limitMs: number = THREAD_STOP_MS): Promise<void> {
    this.dismiss();
    const { thread, name, stopFlag, isStopping } = this;
    if (thread === null) return;
    this.isStopping = true;
    Atomics.store(stopFlag, 0, 1);
    if (!isStopping) this.send({ stop: true });
    const inTime = await endThread(thread, limitMs);
    if (!inTime && limitMs > 0)
      this.options.log.warn({ thread: name, limitMs }, 'a thread did not end in time and was terminated');
    this.settled.resolve(); // also without the thread, which a system call may hold
  }

  private send(sent: ToThreadPort<ToThread<Name>>): void {
    this.thread?.postMessage(sent);
  }

  private start(): void {
    const { data, onMessage, log, code } = this.options;
    const startData: StartData<DataOf<Name>> = {
      data: data(),
      stopFlag: this.stopFlag,
      settings: settingNames(),
    };
    const thread = startThread(this.name, startData, code);
    this.thread = thread;
    this.startedAt = performance.now();
    let failure: unknown;
    const receive = (received: FromThreadPort<FromThread<Name>>): void => {
      if ('message' in received) return onMessage(received.message);
      const { level, fields, msg } = received.line;
      log[level](fields, msg);
    };
    thread.on('message', guarded(`message of the ${this.name} thread`, receive));
    // Handled at the exit, by which all its messages have arrived.
    thread.on('error', (error) => {
      failure = error ?? new Error('undefined was thrown');
    });
    const onExit = guarded(`end of the ${this.name} thread`, (code: number) => this.onExit(code, failure));
    thread.on('exit', onExit);
  }

  private onExit(code: number, failure: unknown): void {
    this.thread = null;
    const error = this.errorOf(code, failure);
    const { restart, onFailure, onExit, log } = this.options;
    if (typeof restart === 'object') {
      if (!this.isDismissed) this.startLater(restart);
      else this.settled.resolve();
      if (error !== null && !this.isDismissed) onFailure?.(error);
      else if (error !== null) log.error({ thread: this.name, err: error }, 'a thread failed as it ended');
    } else if (error === null) this.settled.resolve();
    else this.settled.reject(restart === 'fatal' ? toFatal(this.name, error) : error);
    onExit?.();
  }

  /** Why the thread ended; null when it was told to, or has done its work. */
  private errorOf(code: number, failure: unknown): Error | null {
    if (failure !== undefined) return failure instanceof Error ? failure : new Error(messageOf(failure));
    if (this.isStopping) return null;
    if (code === 0 && this.options.restart !== 'fatal') return null;
    return new FatalError(`the ${this.name} thread exited with code ${code}`);
  }

  /** Until it succeeds: the system may refuse a thread. */
  private startLater(delays: { firstMs: number; longestMs: number }): void {
    if (this.isDismissed) return;
    const { firstMs, longestMs } = delays;
    if (performance.now() - this.startedAt > longestMs) this.failures = 0;
    const start = guarded(
      `start of the ${this.name} thread`,
      () => this.start(),
      () => this.startLater(delays),
    );
    this.restart = setTimeout(start, backoffMs(++this.failures, firstMs, longestMs));
  }
}

/** Names of FatalError and its subclasses: an error loses its class between threads, but not its name. */
const FATAL = new Set(['FatalError', 'DamagedFileError']);

/** The message of a FatalError is for the operator. Any other error is a bug, and needs its stack. */
function toFatal(name: ThreadName, error: Error): FatalError | ConfigError {
  if (error.name === 'ConfigError') return new ConfigError(error.message);
  if (FATAL.has(error.name)) return new FatalError(error.message);
  return new FatalError(`the ${name} thread failed: ${stackOf(error)}`, { cause: error });
}
