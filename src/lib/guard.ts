/**
 * Guards the callbacks that libraries, sockets and timers call. An error that one throws has no caller to catch it and
 * would end the process, so whoever could cause it could stop the service for everybody.
 *
 * Ports and timers of worker threads stay unguarded: an error there ends that thread only, and its client reports it.
 */
import { stackOf } from './errors.ts';

/** Receives a caught error and the place where it was caught, a fixed name. Must not throw. */
export type FailureReporter = (place: string, error: unknown) => void;

const toStderr: FailureReporter = (place, error) => console.error(`${place}: ${stackOf(error)}`);

/** One per thread, because callbacks are registered in all parts of the program. */
let report = toStderr;

/** Sets the reporter of this thread; without an argument, the default, which writes to stderr. */
export function reportFailuresTo(reporter: FailureReporter = toStderr): void {
  report = reporter;
}

/** Reports an error that must not end the process. */
export function reportFailure(place: string, error: unknown): void {
  report(place, error);
}

/**
 * The callback with a guard: reports an error that it throws or rejects with, then calls `onFailure`, which tells
 * whoever waits, for example by closing the socket.
 */
export function guarded<A extends unknown[]>(
  place: string,
  callback: (...args: A) => unknown,
  onFailure?: () => void,
): (...args: A) => void {
  const fail = (error: unknown): void => {
    report(place, error);
    if (onFailure !== undefined) guarded(place, onFailure)();
  };
  return (...args) => {
    try {
      const result = callback(...args);
      if (result instanceof Promise) result.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}
