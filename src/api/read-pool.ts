/** The read threads behind one function that answers a question. */
import { availableParallelism } from 'node:os';
import { RequestError } from '../errors.ts';
import { steadyNow } from '../lib/time.ts';
import type { Head } from '../query/snapshot.ts';
import type { Answered, FromReader, Question, ToReader } from './reader-protocol.ts';

/** The part of a worker thread that is used here. */
export interface ReadThread {
  postMessage(message: ToReader): void;
  on(event: 'message', listener: (message: FromReader) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

/**
 * Most threads; each is started when a question finds all others busy. One takes some 45 MB, and on a machine with two
 * cores a second one would only take time from the writer or the event loop.
 */
const MAX_THREADS = availableParallelism() > 2 ? 2 : 1;
/** Most questions that may wait for a thread. */
const MAX_WAITING = 128;
/** How long a question may take, waiting included, milliseconds. */
const TIME_LIMIT_MS = 10_000;
/** Most answers kept for clients that ask the same while the head stays. */
const MAX_KEPT = 32;

interface Job {
  question: Question;
  resolve: (answered: Answered) => void;
  reject: (error: Error) => void;
}

interface Reader {
  thread: ReadThread;
  job: Job | null;
  ended: Promise<void>;
}

export class ReadPool {
  private readonly start: () => ReadThread;
  private readonly readers = new Set<Reader>();
  private readonly waiting: Job[] = [];
  /** Answers of one head, finished or pending, by question. */
  private readonly kept = new Map<string, Promise<Answered>>();
  private keptTag = '';
  private keptRevision = 0;

  /** `start` starts a read thread. */
  constructor(start: () => ReadThread) {
    this.start = start;
  }

  /**
   * Answers from the commit of `head` or a later one. Rejects with RequestError: the endpoint's own, `timeout` after the
   * time limit, `busy` when too many wait.
   */
  answer(path: string, input: unknown, chainDepth: number, head: Head): Promise<Answered> {
    if (head.tag !== this.keptTag || head.revision !== this.keptRevision) {
      this.kept.clear();
      this.keptTag = head.tag;
      this.keptRevision = head.revision;
    }
    const name = JSON.stringify([path, input, chainDepth]);
    const known = this.kept.get(name);
    if (known !== undefined) return known;
    const answered = this.ask({ path, input, chainDepth, deadline: steadyNow() + TIME_LIMIT_MS });
    this.keep(name, answered);
    return answered;
  }

  /** Ends the threads, each after its current question; waiting questions are refused. */
  async close(): Promise<void> {
    for (const job of this.waiting.splice(0)) job.reject(new RequestError(503, 'busy', 'shutting down'));
    for (const { thread } of this.readers) thread.postMessage('stop');
    await Promise.all([...this.readers].map(({ ended }) => ended));
  }

  private keep(name: string, answered: Promise<Answered>): void {
    const [oldest] = this.kept.keys();
    if (this.kept.size >= MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
    this.kept.set(name, answered);
    answered.catch(() => {
      if (this.kept.get(name) === answered) this.kept.delete(name);
    });
  }

  private ask(question: Question): Promise<Answered> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING) {
        throw new RequestError(503, 'busy', 'too many large questions at the same time; try again later');
      }
      this.waiting.push({ question, resolve, reject });
      this.dispatch();
    });
  }

  private dispatch(): void {
    while (this.waiting.length > 0) {
      const reader = this.freeReader();
      if (reader === null) return;
      const job = this.waiting.shift()!;
      reader.job = job;
      reader.thread.postMessage(job.question);
    }
  }

  private freeReader(): Reader | null {
    for (const reader of this.readers) if (reader.job === null) return reader;
    return this.readers.size < MAX_THREADS ? this.open() : null;
  }

  private open(): Reader {
    const thread = this.start();
    const ended = new Promise<void>((resolve) => thread.on('exit', resolve));
    const reader: Reader = { thread, job: null, ended };
    this.readers.add(reader);
    thread.on('message', (message) => this.settle(reader, (job) => settleWith(job, message)));
    const fail = (error: Error) => {
      this.readers.delete(reader);
      this.settle(reader, (job) => job.reject(error));
    };
    thread.on('error', fail);
    thread.on('exit', () => fail(new Error('a read thread ended by itself')));
    return reader;
  }

  private settle(reader: Reader, settle: (job: Job) => void): void {
    const { job } = reader;
    reader.job = null;
    if (job !== null) settle(job);
    this.dispatch();
  }
}

function settleWith({ resolve, reject }: Job, message: FromReader): void {
  if ('body' in message) resolve(message);
  else if ('refused' in message) {
    const { status, code, message: text, param } = message.refused;
    reject(new RequestError(status, code, text, param));
  } else reject(new Error(`a read thread failed: ${message.defect}`));
}
