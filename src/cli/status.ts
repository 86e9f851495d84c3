/** `atlas-node status`: what a running daemon says about itself. */
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { ConfigError, FatalError } from '../errors.ts';
import type { IndexStatus } from '../types.ts';
import { addConfigOptions } from './options.ts';
import { statusTable } from './status-table.ts';

const TIMEOUT_MS = 5_000;

export function addStatus(program: Command): void {
  const command = program
    .command('status')
    .description('height, lag, rates, ETA, holes and capabilities of a running daemon')
    .option('--url <url>', 'address of the daemon (default: from the configuration)')
    .option('--json', 'as JSON');
  const load = addConfigOptions(command, []);
  command.action(async ({ url, json }: { url?: string; json?: boolean }) => {
    const status = await fetchStatus(url ?? daemonUrl((await load()).config));
    console.log(json ? JSON.stringify(status, null, 2) : statusTable(status, Date.now()));
  });
}

/** Where a daemon of this configuration can be reached from this machine. */
export function daemonUrl({ server }: Config): string {
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const host = anywhere[server.host] ?? server.host;
  const scheme = server.tls_cert ? 'https' : 'http';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${server.port}`;
}

async function fetchStatus(base: string): Promise<IndexStatus> {
  if (!URL.canParse(base))
    throw new ConfigError(`--url must be a URL such as "http://127.0.0.1:8650", not "${base}"`);
  const url = `${base.replace(/\/+$/, '')}/status`;
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
    throw new FatalError(
      `no answer from ${url} (${reasonOf(error)}): is the daemon running, and is this its address (--url)?`,
    );
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok || !isStatus(body)) {
    throw new FatalError(`${url} answered HTTP ${response.status} without a status: is that an atlas-node?`);
  }
  return body;
}

function isStatus(body: unknown): body is IndexStatus {
  return (
    typeof body === 'object' && body !== null && 'phase' in body && 'head' in body && 'capabilities' in body
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.name === 'TimeoutError' ? `nothing within ${TIMEOUT_MS / 1000} s` : error.message;
}
