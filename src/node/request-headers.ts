/** The headers of every request to a node, over HTTP and WebSocket. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { version } from '../lib/version.ts';
import type { Endpoint } from './endpoint.ts';

/** Shared with all threads that start later. */
const CONFIGURED = 'headers of requests to a node';

/** Adds headers from the configuration. Call before any client of a node is made. */
export function setNodeHeaders(headers: Readonly<Record<string, string>>): void {
  setEnvironmentData(CONFIGURED, headers);
}

/**
 * Names and values for an endpoint. Configured ones replace ours: proxies in front of nodes refuse requests without a
 * User-Agent. Answers must come uncompressed, which some proxies do only if asked.
 */
export function requestHeaders({ authorization }: Pick<Endpoint, 'authorization'>): Record<string, string> {
  const ours = {
    'User-Agent': `atlas-node/${version}`,
    ...(authorization && { Authorization: authorization }),
  };
  const configured: unknown = getEnvironmentData(CONFIGURED);
  const headers = new Map(Object.entries(ours).map((header) => [header[0].toLowerCase(), header]));
  for (const [name, value] of Object.entries(Object(configured))) {
    headers.set(name.toLowerCase(), [name, String(value)]);
  }
  return Object.fromEntries(headers.values());
}
