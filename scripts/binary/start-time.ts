/** Measures the built binary from start to first answer. */
import { startDaemon } from '../daemon.ts';

const STARTS = 5;

/** Median seconds until `/healthz` answers, on an existing index. Uses `dataDir` and does not remove it. */
export async function secondsToFirstAnswer(executable: string, dataDir: string): Promise<number> {
  await start(executable, dataDir); // creates the files and unpacks the native modules
  const seconds: number[] = [];
  for (let i = 0; i < STARTS; i++) seconds.push(await start(executable, dataDir));
  return seconds.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0;
}

async function start(executable: string, dataDir: string): Promise<number> {
  const startedAt = performance.now();
  const daemon = await startDaemon(executable, ['--data-dir', dataDir, '--log-level', 'error']);
  try {
    const { ok } = await fetch(`${daemon.url}/healthz`);
    if (!ok) throw new Error(`${daemon.url}/healthz does not answer with success`);
    return (performance.now() - startedAt) / 1000;
  } finally {
    await daemon.stop();
  }
}
