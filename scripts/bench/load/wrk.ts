/** Load by wrk, which needs a tenth of the processor time of a JavaScript load generator. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { FatalError } from '../../../src/lib/errors.ts';
import { pinnedCommand } from '../process/cores.ts';

const run = promisify(execFile);

/** A slower answer fails the whole measurement. */
const TIMEOUT_S = 30;

interface WrkSpec {
  port: number;
  connections: number;
  seconds: number;
  /** Whole requests as sent over the wire, in rotation. */
  requests: readonly string[];
  cores: string | null;
  /** A writable file. */
  scriptPath: string;
}

export interface WrkResult {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

interface Summary {
  requests: number;
  microseconds: number;
  failures: number;
  p50: number;
  p99: number;
}

let isInstalled: Promise<boolean> | undefined;

/** Checked once, to save a process before every load. */
export function hasWrk(): Promise<boolean> {
  // wrk has no no-op option: given the version option, it prints its version and exits with 1.
  isInstalled ??= run('wrk', ['--version']).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  return isInstalled;
}

/** Throws FatalError when requests failed, because the figures would be of other answers. */
export async function runWrk({
  port,
  connections,
  seconds,
  requests,
  cores,
  scriptPath,
}: WrkSpec): Promise<WrkResult> {
  writeFileSync(scriptPath, script(requests));
  const options = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    `${TIMEOUT_S}s`,
    '--latency',
    '-s',
    scriptPath,
  ];
  const [file = '', ...args] = pinnedCommand(['wrk', ...options, `http://127.0.0.1:${port}`], cores);
  const { stdout } = await run(file, args, { timeout: (seconds + 2 * TIMEOUT_S) * 1000 });
  const summary: Summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  if (summary.failures > 0 || summary.requests === 0) {
    throw new FatalError(
      `${summary.failures} requests failed under load and ${summary.requests} were answered`,
    );
  }
  return {
    requests: summary.requests,
    requestsPerSecond: summary.requests / (summary.microseconds / 1e6),
    p50Ms: summary.p50 / 1000,
    p99Ms: summary.p99 / 1000,
  };
}

/** JSON and Lua quote ASCII text the same way. */
function script(requests: readonly string[]): string {
  return `local requests = {${requests.map((text) => JSON.stringify(text)).join(',\n')}}
local i = 0
function request()
  i = i % #requests + 1
  return requests[i]
end
function done(summary, latency)
  local e = summary.errors
  print(string.format('\\n{"requests":%d,"microseconds":%d,"failures":%d,"p50":%d,"p99":%d}', summary.requests,
    summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
`;
}
