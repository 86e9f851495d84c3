/** Processes that do parts of the benchmark, as seen from the benchmarking process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { FatalError } from '../../../src/lib/errors.ts';
import { pinnedCommand } from './cores.ts';
import { sourceCommand } from './program.ts';
import type { Actions, WorkerRequest, WorkerResponse } from './protocol.ts';

/** Longest time for one action, milliseconds: generating a large chain takes longest. */
const CALL_TIMEOUT_MS = 3_600_000;

interface PendingCall {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** A process that runs actions on request. It ends when this process ends, for whatever reason. */
export class WorkerProcess<A extends Actions> {
  readonly name: string;
  private readonly child: ChildProcess;
  private readonly exited: Promise<void>;
  private readonly pending = new Map<number, PendingCall>();
  private lastId = 0;

  /** `cores` as `taskset` takes them, or null. */
  constructor(name: string, cores: string | null) {
    this.name = name;
    const [file = '', ...args] = pinnedCommand(
      sourceCommand('scripts/bench/workers/workers.ts', name),
      cores,
    );
    this.child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.exited = new Promise((resolve) => {
      this.child.once('exit', () => resolve());
      this.child.once('error', () => resolve());
    });
    this.child.on('message', (message: WorkerResponse) => this.receive(message));
    void this.exited.then(() => this.failAll(`the part "${name}" of the benchmark ended by itself`));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new FatalError(`the part "${this.name}" could not be started`);
    return this.child.pid;
  }

  /** Runs an action in the worker. Rejects with the action's error. */
  call<N extends keyof A & string>(
    action: N,
    ...[argument]: Parameters<A[N]>
  ): Promise<Awaited<ReturnType<A[N]>>> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.pending.delete(id);
        reject(new FatalError(`${this.name}.${action} took too long`));
      }, CALL_TIMEOUT_MS);
      // The worker runs this same program, so an action's result has the declared type.
      const settle = (result: unknown) => resolve(result as Awaited<ReturnType<A[N]>>);
      this.pending.set(id, { resolve: settle, reject, timer });
      this.child.send({ id, action, argument } satisfies WorkerRequest, (error) => {
        if (error) this.failAll(`the part "${this.name}" of the benchmark cannot be reached`);
      });
    });
  }

  /** Ends the process immediately. It has nothing to clean up. */
  async close(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.exited;
  }

  private receive(message: WorkerResponse): void {
    const call = this.pending.get(message.id);
    if (call === undefined) return;
    this.pending.delete(message.id);
    clearTimeout(call.timer);
    if ('error' in message) call.reject(new FatalError(`${this.name}: ${message.error}`));
    else call.resolve(message.result);
  }

  private failAll(reason: string): void {
    for (const { reject, timer } of this.pending.values()) {
      clearTimeout(timer);
      reject(new FatalError(reason));
    }
    this.pending.clear();
  }
}
