/** Queries a running daemon for its status. */
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import type { Config } from '../../config/parse-config.ts';
import { isHttpUrl } from '../../config/urls.ts';
import { ConfigError, codeOf, FatalError } from '../../lib/errors.ts';
import { http } from '../../lib/http.ts';
import { hostPort, isObject } from '../../lib/text.ts';
import type { ClusterStatus } from '../../model/cluster-status.ts';
import type { IndexStatus } from '../../model/index-status.ts';
import type { QueryReads } from '../../model/query-reads.ts';
import type { SinkStatus } from '../../model/sink-status.ts';

const TIMEOUT_MS = 5_000;

/** The panel's disk figures. A figure is null while unknown. */
export interface DiskReport {
  fileBytes: number;
  walBytes: number;
  freeBytes: number;
  bytesPerDay: number | null;
  bytesWhenFilled: number | null;
  daysUntilFull: number | null;
  /** SQL queries that read the index; null from a daemon of an earlier release. */
  queries: QueryReads | null;
}

export interface StatusReport {
  status: IndexStatus;
  /** Null if the daemon has no PostgreSQL sink. */
  sink: SinkStatus | null;
  /** Null if the daemon shares its keys with no other. */
  cluster: ClusterStatus | null;
  /** Why the daemon considers the chain stale; null if it does not. */
  staleReason: string | null;
  /** Null if the daemon does not provide it, or without an operator token. */
  disk: DiskReport | null;
  /** The daemon's operator token differs from the configured one. */
  tokenRefused: boolean;
}

/** The daemon to query. */
interface StatusTarget {
  baseUrl: string;
  /** The operator token, for figures that only operators may see. If empty, they are not requested. */
  adminToken: string;
  /** The address is local, so the certificate, issued for another name, is not checked. */
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

/** The address of this configuration's daemon, from this machine. */
export function daemonUrl({ server }: Config): string {
  const loopbackFor: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const host = loopbackFor[server.host] ?? server.host;
  const scheme = server.tls_cert ? 'https' : 'http';
  return `${scheme}://${hostPort(host, server.port)}`;
}

/** Queries one daemon repeatedly. */
export class StatusClient {
  private readonly target: StatusTarget;
  /** A refused token is not sent again, because after ten refusals the daemon blocks the address for a while. */
  private tokenRefused = false;

  constructor(target: StatusTarget) {
    this.target = target;
  }

  /** Throws FatalError with advice when there is no answer, or the answer is not from an atlas-node. */
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
    return {
      status: body,
      sink: sinkIn(body),
      cluster: clusterIn(body),
      staleReason: staleReasonIn(body),
      disk,
      tokenRefused: this.tokenRefused,
    };
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
  { isLocal }: StatusTarget,
  url: string,
  headers: Record<string, string>,
): Promise<{ code: number; body: unknown }> {
  const request = url.startsWith('https:') ? httpsRequest : http.request;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { headers, signal, agent: false, rejectUnauthorized: !isLocal };
      request(url, options, resolve).on('error', reject).end();
    });
    return { code: response.statusCode ?? 0, body: parseJson(await readText(response)) };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
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

function sinkIn(body: object): SinkStatus | null {
  return 'sink' in body && isSinkStatus(body.sink) ? body.sink : null;
}

function isSinkStatus(value: unknown): value is SinkStatus {
  return isObject(value) && 'state' in value && 'lagBlocks' in value && 'schema' in value;
}

function clusterIn(body: object): ClusterStatus | null {
  return 'cluster' in body && isClusterStatus(body.cluster) ? body.cluster : null;
}

function isClusterStatus(value: unknown): value is ClusterStatus {
  return isObject(value) && 'state' in value && 'unsentRequests' in value;
}

function staleReasonIn(body: object): string | null {
  return 'staleReason' in body && typeof body.staleReason === 'string' ? body.staleReason : null;
}

/** Parses the disk figures of /admin/api/index; null until the file is measured. */
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
    queries: isQueryReads(body.survey.queries) ? body.survey.queries : null,
  };
}

function isQueryReads(value: unknown): value is QueryReads {
  return isObject(value) && 'count' in value && 'oldestMs' in value && 'logLimitBytes' in value;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `nothing within ${TIMEOUT_MS / 1000} s`;
  if (codeOf(error) === 'EPROTO') return 'it does not speak TLS: try http';
  return codeOf(error) || error.message;
}
