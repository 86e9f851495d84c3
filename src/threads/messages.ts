/** What passes between a thread and its handle, around the messages of the two. */
import type { LogFields, ThreadLog } from '../log/logger.ts';

/** The `workerData` of every thread. */
export interface StartData<Data> {
  data: Data;
  /** THREAD_FLAGS numbers, each 0 or 1. */
  flags: Int32Array;
}

/** Places in the flags of a thread. */
export const ThreadFlag = {
  /** The handle sets it as it sends `stop`: work that takes long reads no messages until it ends. */
  stop: 0,
  /** The thread sets it before it begins its work. Until then it only loads modules, and can be ended at any time. */
  working: 1,
} as const;

export const THREAD_FLAGS = 2;

export type ToThreadPort<To> = { message: To } | { stop: true };

export type FromThreadPort<From> = { message: From } | { line: LogLine };

/** A line of a thread's log, which the serving thread writes. */
export interface LogLine {
  level: keyof ThreadLog;
  fields: LogFields;
  msg: string;
}
