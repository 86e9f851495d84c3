/** What passes between a thread and its handle, around the messages of the two. */
import type { SettingNames } from '../lib/setting-name.ts';
import type { LogFields, ThreadLog } from '../log/logger.ts';

/** The `workerData` of every thread. */
export interface StartData<Data> {
  data: Data;
  /** One number. The handle sets it to 1 as it sends `stop`: work that takes long reads no messages until it ends. */
  stopFlag: Int32Array;
  /** For the messages of the thread. */
  settings: SettingNames;
}

export type ToThreadPort<To> = { message: To } | { stop: true };

export type FromThreadPort<From> = { message: From } | { line: LogLine };

/** A line of a thread's log, which the serving thread writes. */
export interface LogLine {
  level: keyof ThreadLog;
  fields: LogFields;
  msg: string;
}
