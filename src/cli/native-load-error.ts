/** One-line errors for native modules that are missing or do not run here. */
import { FatalError } from '../errors.ts';
import { codeOf } from '../lib/error-text.ts';

/** Node's codes for a missing module; when it comes from a package, the message names the package. */
const MODULE_NOT_FOUND_CODES = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND']);
const FROM_PACKAGE = /Cannot find package|node_modules/;

/** uWebSockets.js throws a plain Error without the code of its cause; its message begins with these words. */
const UWS_ERROR_PREFIX = 'This version of uWS.js';

/** What this process runs on; a parameter so that tests can stand for other systems. */
export interface Platform {
  os: string;
  arch: string;
  /** Version of glibc, or undefined where there is none. */
  glibc: string | undefined;
}

/**
 * A FatalError that says what to do when the error, or one of its causes, is the failure to load a native module or an
 * installed package; else undefined.
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
    return `atlas-node needs a Linux with glibc, and this one (${here}) has another C library: use a Debian or Ubuntu image`;
  }
  const what = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1] ?? message.split('\n').at(-1);
  return `cannot load ${what} on ${here}: run "npm run setup" in the project's folder`;
}

function thisPlatform(): Platform {
  return { os: process.platform, arch: process.arch, glibc: glibcVersion() };
}

function glibcVersion(): string | undefined {
  // Without this the report looks up host names, which can take seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const report: { header?: { glibcVersionRuntime?: string } } = JSON.parse(
    JSON.stringify(process.report.getReport()),
  );
  return report.header?.glibcVersionRuntime;
}
