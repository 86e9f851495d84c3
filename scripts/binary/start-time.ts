/** How long the built binary takes from its start to its first answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { readyUrl } from '../../src/cli/ready-line.ts';

const STARTS = 5;

/** Median seconds until `/healthz` answers, on an existing index. Uses `dataDir` and leaves it behind. */
export async function secondsToFirstAnswer(executable: string, dataDir: string): Promise<number> {
  await start(executable, dataDir); // makes the files and unpacks the native modules
  const seconds: number[] = [];
  for (let i = 0; i < STARTS; i++) seconds.push(await start(executable, dataDir));
  return seconds.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0;
}

async function start(executable: string, dataDir: string): Promise<number> {
  const startedAt = performance.now();
  const daemon = spawn(executable, ['start', '--port', '0', '--data-dir', dataDir, '--log-level', 'error'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(daemon, 'exit');
  try {
    const url = await urlOf(createInterface(daemon.stdout));
    const { ok } = await fetch(`${url}/healthz`);
    if (!ok) throw new Error(`${url}/healthz does not answer with success`);
    return (performance.now() - startedAt) / 1000;
  } finally {
    daemon.kill();
    await exited;
  }
}

/** The address in the line that says the daemon is ready. */
async function urlOf(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const url = readyUrl(line);
    if (url !== undefined) return url;
  }
  throw new Error('the daemon ended before it was ready');
}
