/** A whole daemon for tests: its own data folder, a free port, a key, and requests to its API. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openKeyStore } from '../../../src/access/keys.ts';
import type { FlagValues } from '../../../src/config/flags.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { type Daemon, startDaemon } from '../../../src/daemon.ts';
import type { Logger } from '../../../src/log/logger.ts';
import type { ExampleAddress } from '../../../src/model/address.ts';
import { tempDir } from '../temp-dir.ts';
import { waitFor } from '../wait.ts';
import { TEST_SETTINGS } from './settings.ts';

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export interface TestDaemon {
  daemon: Daemon;
  url: string;
  key: string;
  dataDir: string;
  /** JSON of a GET below `/api/`, which must answer 200. */
  get<T = Record<string, unknown>>(path: string, params?: Record<string, string | number>): Promise<T>;
  /** Resolves when the index is at this block. */
  reaches(number: number): Promise<void>;
}

export interface DaemonOptions {
  flags: FlagValues;
  /** Environment variables of settings that have no flag. */
  env?: Record<string, string>;
  dataDir?: string;
  log?: Logger;
  examples?: readonly ExampleAddress[];
}

type Cleanup = { after(close: () => void | Promise<void>): void };

export async function startTestDaemon(owner: Cleanup, options: DaemonOptions): Promise<TestDaemon> {
  const dataDir = options.dataDir ?? tempDir(owner);
  const { config } = parseConfig({
    env: { ...TEST_SETTINGS, ...options.env },
    flags: { '--data-dir': dataDir, '--port': '0', ...options.flags },
  });
  mkdirSync(dataDir, { recursive: true });
  const keys = openKeyStore(join(dataDir, 'keys.db'));
  const { key } = keys.create({ name: 'test', tier: 'unlimited' });
  keys.close();
  const daemon = await startDaemon(config, { log: options.log ?? SILENT, examples: options.examples ?? [] });
  owner.after(() => daemon.close());
  const get = async <T>(path: string, params: Record<string, string | number> = {}): Promise<T> => {
    const query = new URLSearchParams(
      Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const response = await fetch(`${daemon.url}/api/${path}?${query}`, { headers: { 'X-API-Key': key } });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${path}?${query} answered ${response.status}: ${body}`);
    return JSON.parse(body) as T;
  };
  return {
    daemon,
    url: daemon.url,
    key,
    dataDir,
    get,
    async reaches(number) {
      await waitFor(() => daemon.status().head?.number === number, {
        what: `the daemon to reach block ${number}`,
      }).catch((cause) => {
        throw new Error(`the daemon says: ${JSON.stringify(daemon.status())}`, { cause });
      });
    },
  };
}
