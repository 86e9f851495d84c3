/** Asking a running daemon for its status. */
import { isHttpUrl } from '../config/values.ts';
import type { Config } from '../config.ts';
import { ConfigError, FatalError } from '../errors.ts';
import { codeOf } from '../lib/error-text.ts';
import { hostPort } from '../lib/host-port.ts';
import { isObject } from '../lib/is-object.ts';
import type { IndexStatus } from '../types.ts';

const TIMEOUT_MS = 5_000;

/** What the panel knows about the disk. A figure is null while it is unknown. */
export interface DiskReport {
  fileBytes: number;
  walBytes: number;
  freeBytes: number;
  bytesPerDay: number | null;
  bytesWhenFilled: number | null;
  daysUntilFull: number | null;
}

export interface StatusReport {
  status: IndexStatus;
  /** Null when the daemon does not say, or was not asked because there is no operator token. */
  disk: DiskReport | null;
  /** The daemon's operator token differs from the configured one. */
  tokenRefused: boolean;
}

/** Where to ask. */
export interface StatusTarget {
  baseUrl: string;
  /** The operator token, for what only operators may know; when empty, that is not asked for. */
  adminToken: string;
  /** The address is this machine's, so its certificate, which is for another name, need not be checked. */
  isLocal: boolean;
}

/** A daemon at the address given by `--url`. The configured token is not sent there. */
export function urlTarget(url: string): StatusTarget {
  if (!isHttpUrl(url))
    throw new ConfigError(`--url must be a URL such as "http://127.0.0.1:8650", not "${url}"`);
  return { baseUrl: url.replace(/\/+$/, ''), adminToken: '', isLocal: false };
}

/** The daemon of a configuration, on this machine. */
export function localTarget(config: Config): StatusTarget {
  return { baseUrl: daemonUrl(config), adminToken: config.admin_token, isLocal: true };
}

/** Where a daemon of this configuration can be reached from this machine. */
export function daemonUrl({ server }: Config): string {
  const loopbackFor: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const host = loopbackFor[server.host] ?? server.host;
  const scheme = server.tls_cert ? 'https' : 'http';
  return `${scheme}://${hostPort(host, server.port)}`;
}

/** Queries one daemon, as often as wanted. */
export class StatusClient {
  private readonly target: StatusTarget;
  /** A refused token is not sent again: after ten refusals the daemon would block this address for a while. */
  private tokenRefused = false;

  constructor(target: StatusTarget) {
    this.target = target;
  }

  /** Throws FatalError saying what to do when there is no answer, or when it does not come from an atlas-node. */
  async fetch(): Promise<StatusReport> {
    const url = `${this.target.baseUrl}/status`;
    const { code, body } = await get(this.target, url, {}).catch((error: unknown) => {
      throw new FatalError(
        `no answer from ${url} (${reasonOf(error)}): is the daemon running, and is this its address (--url)?`,
      );
    });
    if (code !== 200 || !isStatus(body)) {
      throw new FatalError(`${url} answered HTTP ${code} without a status: is that an atlas-node?`);
    }
    const disk = await this.fetchDisk();
    return { status: body, disk, tokenRefused: this.tokenRefused };
  }

  private async fetchDisk(): Promise<DiskReport | null> {
    if (this.target.adminToken === '' || this.tokenRefused) return null;
    const headers = { authorization: `Bearer ${this.target.adminToken}` };
    const url = `${this.target.baseUrl}/admin/api/index`;
    const { code, body } = await get(this.target, url, headers).catch(() => ({ code: 0, body: null }));
    this.tokenRefused = code === 401;
    return parseDiskReport(body);
  }
}

async function get(
  { isLocal, baseUrl }: StatusTarget,
  url: string,
  headers: Record<string, string>,
): Promise<{ code: number; body: unknown }> {
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({
    connect: { rejectUnauthorized: !(isLocal && baseUrl.startsWith('https:')) },
  });
  try {
    const response = await request(url, { headers, dispatcher, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.body.text();
    return { code: response.statusCode, body: parseJson(text) };
  } finally {
    await dispatcher.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isStatus(body: unknown): body is IndexStatus {
  return isObject(body) && 'phase' in body && 'head' in body && 'capabilities' in body;
}

/** The disk figures from the answer of /admin/api/index; null while there is no survey of the file. */
function parseDiskReport(body: unknown): DiskReport | null {
  if (!isObject(body) || !isObject(body.survey)) return null;
  const { fileBytes, walBytes, freeBytes } = body.survey;
  if (typeof fileBytes !== 'number' || typeof walBytes !== 'number' || typeof freeBytes !== 'number')
    return null;
  const forecast = isObject(body.forecast) ? body.forecast : {};
  const numberOrNull = (name: string) => (typeof forecast[name] === 'number' ? forecast[name] : null);
  return {
    fileBytes,
    walBytes,
    freeBytes,
    bytesPerDay: numberOrNull('bytesPerDay'),
    bytesWhenFilled: numberOrNull('bytesWhenFilled'),
    daysUntilFull: numberOrNull('daysUntilFull'),
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `nothing within ${TIMEOUT_MS / 1000} s`;
  return codeOf(error) || error.message;
}
