/** Turns an error into one line for the command line and an exit code. */
import { ConfigError, codeOf, FatalError, RequestError, StorageError } from '../lib/errors.ts';
import { storageFailureText } from '../store/storage-error.ts';

/** Node's codes for a missing module. For a package, the message names it. */
const MODULE_NOT_FOUND_CODES = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND']);

const FROM_PACKAGE = /Cannot find package|node_modules/;

/** uWebSockets.js throws a plain Error without the code of its cause. Its message starts with these words. */
const UWS_ERROR_PREFIX = 'This version of uWS.js';

/** The current system. A parameter, so that tests can simulate others. */
interface Platform {
  os: string;
  arch: string;
  /** Version of glibc; undefined if the system has another C library. */
  glibc: string | undefined;
}

/**
 * A FatalError with advice if the error or one of its causes is a failure to load a native module or an installed
 * package; else undefined.
 */
export function nativeLoadError(
  error: unknown,
  platform: () => Platform = thisPlatform,
): FatalError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isLoadFailure(cause)) return new FatalError(explain(cause.message, platform()), { cause: error });
  }
  return undefined;
}

function isLoadFailure(error: Error): boolean {
  const code = codeOf(error);
  const missing = MODULE_NOT_FOUND_CODES.has(code) && FROM_PACKAGE.test(error.message);
  return missing || code === 'ERR_DLOPEN_FAILED' || error.message.startsWith(UWS_ERROR_PREFIX);
}

function explain(message: string, { os, arch, glibc }: Platform): string {
  const here = `${os}-${arch}`;
  const wanted = /GLIBC_([\d.]+)' not found/.exec(message)?.[1];
  if (wanted)
    return `this system has glibc ${glibc ?? '(none)'}, atlas-node needs ${wanted} or newer: use a newer system`;
  if (os === 'linux' && glibc === undefined) {
    return (
      `atlas-node needs a Linux with glibc, and this one (${here}) has another C library: use a Debian ` +
      'or Ubuntu image'
    );
  }
  const what = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1] ?? message.split('\n').at(-1);
  return `cannot load ${what} on ${here}: run "npm run setup" in the project's folder`;
}

function thisPlatform(): Platform {
  return { os: process.platform, arch: process.arch, glibc: glibcVersion() };
}

function glibcVersion(): string | undefined {
  // Otherwise the report would look up host names, which can take seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const report: { header?: { glibcVersionRuntime?: string } } = JSON.parse(
    JSON.stringify(process.report.getReport()),
  );
  return report.header?.glibcVersionRuntime;
}

/** Exit code of bad usage or configuration. */
export const EXIT_USAGE = 2;

/** Exit code of a failure while running. */
export const EXIT_FAILURE = 1;

/** One line per configuration mistake; for any other error, one line. */
export function describeError(error: unknown): { lines: string[]; exitCode: number } {
  if (error instanceof ConfigError) return { lines: error.mistakes.map(oneLine), exitCode: EXIT_USAGE };
  if (error instanceof RequestError) return { lines: [oneLine(error.message)], exitCode: EXIT_USAGE };
  if (isWorkingDirGone(error)) return { lines: [WORKING_DIR_GONE], exitCode: EXIT_USAGE };
  const known = nativeLoadError(error) ?? error;
  if (known instanceof FatalError || known instanceof StorageError)
    return { lines: [oneLine(known.message)], exitCode: EXIT_FAILURE };
  return { lines: [storageFailureText(known) ?? unexpectedErrorLine(known)], exitCode: EXIT_FAILURE };
}

const WORKING_DIR_GONE = 'the working directory no longer exists: change to another one';

/** Whether this is Node's error for a relative path in a working directory that no longer exists. */
function isWorkingDirGone(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}

/** A bug in the program. A report needs the place where it was thrown. */
function unexpectedErrorLine(error: unknown): string {
  if (!(error instanceof Error)) return `unexpected failure: ${oneLine(String(error))}`;
  const place = /\n\s+at (.*)/.exec(error.stack ?? '')?.[1];
  return `unexpected ${error.name}: ${oneLine(error.message)}${place ? ` at ${place}` : ''}; please report it`;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}
