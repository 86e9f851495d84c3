/** `atlas-node dev` for scripts, on a free port. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuse } from './options.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/atlas-node', import.meta.url));

export interface Demo {
  url: string;
  key: string;
  /** Of the operator. */
  token: string;
  /** An address with transfers of every token. */
  wallet: string;
  close(): Promise<void>;
}

/** Resolves once the daemon has printed where it listens and with which secrets. */
export async function startDemo(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'atlas-demo-'));
  const dev = spawn(LAUNCHER, ['dev'], {
    env: { ...process.env, TMPDIR: folder, ATLAS_SERVER__PORT: '0', ATLAS_ADMIN_TOKEN: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(dev, 'exit');
  const close = async () => {
    dev.kill('SIGINT');
    await exited;
    rmSync(folder, { recursive: true });
  };
  let text = '';
  for await (const chunk of dev.stdout) {
    text += String(chunk);
    if (!text.includes('#key=')) continue;
    const find = (pattern: RegExp): string =>
      pattern.exec(text)?.[1] ?? refuse(`the banner has no ${pattern}`);
    return {
      url: find(/REST +(\S+)\/api/),
      key: find(/ key +(\S+)/),
      token: find(/operator token (\S+)\)/),
      wallet: find(/trader +(0x[0-9a-f]{40})/),
      close,
    };
  }
  throw new Error(`atlas-node dev ended before it was ready:\n${text}`);
}
