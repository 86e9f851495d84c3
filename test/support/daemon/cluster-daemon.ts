/** Daemons of one cluster, as processes that are killed and restarted on the same port and data. */
import type { Cleanup } from '../cleanup.ts';
import { freePort } from '../free-port.ts';
import { tempDir } from '../temp-dir.ts';
import { waitFor } from '../wait.ts';
import { LAUNCHER, type Running, readyUrl, run, start } from './command.ts';

export const ADMIN_TOKEN = 'operator-of-the-cluster';

export interface ClusterDaemon {
  readonly url: string;
  readonly port: number;
  /** Process id of the last start. */
  pid(): number | undefined;
  isRunning(): boolean;
  /** The log since the last start. */
  log(): string;
  /** Restarts it. Resolves when it serves. */
  start(): Promise<void>;
  /** Sends a signal. Resolves with the exit code. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Resolves when it is ready for clients. */
  isReady(): Promise<void>;
  /** JSON of the panel's API. */
  admin<T>(path: string): Promise<T>;
  /** JSON that `atlas-node keys` prints with the daemon's configuration. */
  keys<T>(...args: string[]): Promise<T>;
}

/** Starts a daemon with these settings (`ATLAS_...`) and a new data folder. */
export async function startClusterDaemon(
  cleanup: Cleanup,
  settings: Record<string, string>,
  port?: number,
): Promise<ClusterDaemon> {
  const dir = tempDir(cleanup);
  const listen = port ?? (await freePort());
  const env = {
    ATLAS_DATA_DIR: dir,
    ATLAS_SERVER__PORT: String(listen),
    ATLAS_ADMIN_TOKEN: ADMIN_TOKEN,
    ATLAS_INDEX__STALE_SECONDS: '0',
    ...settings,
  };
  const url = `http://127.0.0.1:${listen}`;
  let running: Running | undefined;
  const daemon: ClusterDaemon = {
    url,
    port: listen,
    pid: () => running?.child.pid,
    isRunning: () => running?.child.exitCode === null && running.child.signalCode === null,
    log: () => running?.stderr() ?? '',
    async start() {
      running = start(cleanup, [LAUNCHER, 'start'], { cwd: dir, env });
      await readyUrl(running);
    },
    async end(signal) {
      running?.child.kill(signal);
      return (await running?.ended)?.code ?? null;
    },
    async isReady() {
      const what = `${url} to be ready`;
      await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200, { what });
    },
    async admin(path) {
      const response = await fetch(`${url}/admin/api/${path}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      return JSON.parse(await response.text());
    },
    async keys(...args) {
      const { code, stdout, stderr } = await run(cleanup, [LAUNCHER, 'keys', ...args, '--json'], {
        cwd: dir,
        env,
      });
      if (code !== 0) throw new Error(`keys ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
  await daemon.start();
  return daemon;
}
