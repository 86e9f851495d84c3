/** Load by wrk, and what it cost the server in processor time. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from './rpc-programs.ts';
import { scratchDir } from './rpc-programs.ts';

const run = promisify(execFile);
const TICKS_PER_SECOND = 100;

export interface Load {
  /** Bodies that are sent in turn. */
  bodies: readonly string[];
  connections: number;
  seconds: number;
  key?: string | undefined;
}

export interface Outcome {
  requestsPerSecond: number;
  /** Microseconds. */
  p50: number;
  p99: number;
  cpuPerRequest: number;
}

/** Sends the load from that core. Throws when anything but 200 is answered. */
export async function loadBy(core: number, program: Program, load: Load): Promise<Outcome> {
  const script = join(scratchDir(), 'load.lua');
  writeFileSync(script, luaFor(load));
  const before = cpuTicks(program.pids);
  const { stdout } = await run('taskset', [
    '-c',
    String(core),
    'wrk',
    '-t1',
    `-c${load.connections}`,
    `-d${load.seconds}s`,
    '--timeout',
    '20s', // anvil takes longer than the usual two for many full blocks at once
    '-s',
    script,
    program.url,
  ]);
  const ticks = cpuTicks(program.pids) - before;
  const line = stdout.split('\n').find((one) => one.startsWith('RESULT '));
  if (line === undefined) throw new Error(stdout);
  const [requests, micros, p50, p99, errors] = line.slice(7).split(' ').map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (errors > 0) throw new Error(`${errors} of ${requests} requests failed at ${program.name}`);
  return {
    requestsPerSecond: requests / (micros / 1e6),
    p50,
    p99,
    cpuPerRequest: ((ticks / TICKS_PER_SECOND) * 1e6) / requests,
  };
}

function luaFor({ bodies, key }: Load): string {
  const keyLine = key === undefined ? '' : `wrk.headers['X-API-Key'] = '${key}'`;
  return `wrk.method = 'POST'
wrk.headers['Content-Type'] = 'application/json'
${keyLine}
local requests = {}
local at = 0
function init()
  for _, body in ipairs({${bodies.map((body) => `[==[${body}]==]`).join(',\n')}}) do
    requests[#requests + 1] = wrk.format(nil, nil, nil, body)
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT %d %d %d %d %d\\n', summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

/** User and system time of all threads of the processes. */
function cpuTicks(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return sum + Number(fields[11]) + Number(fields[12]);
  }, 0);
}
