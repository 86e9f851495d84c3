/** Daemons of one cluster, as processes that are killed and restarted on the same port and data. */
import type { Cleanup } from '../cleanup.ts';
import { freePort } from '../free-port.ts';
import { waitFor } from '../wait.ts';
import { LAUNCHER, run } from './command.ts';
import { type DaemonProcess, startDaemonProcess } from './daemon-process.ts';

export const ADMIN_TOKEN = 'operator-of-the-cluster';

export interface ClusterDaemon extends DaemonProcess {
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
  const env = { ATLAS_ADMIN_TOKEN: ADMIN_TOKEN, ...settings };
  const options = { port: port ?? (await freePort()), hasOwnKeys: false };
  const daemon = await startDaemonProcess(cleanup, env, options);
  const { url, dir } = daemon;
  return Object.assign(daemon, {
    async isReady() {
      const what = `${url} to be ready`;
      await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200, { what });
    },
    async admin<T>(path: string): Promise<T> {
      const response = await fetch(`${url}/admin/api/${path}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      return JSON.parse(await response.text());
    },
    async keys<T>(...args: string[]): Promise<T> {
      const command = [LAUNCHER, 'keys', ...args, '--json', '--data-dir', dir];
      const { code, stdout, stderr } = await run(cleanup, command, { cwd: dir, env });
      if (code !== 0) throw new Error(`keys ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
  });
}
