/** A port that cannot be had. */
import type { Loaded } from '../config/load.ts';
import { ConfigError } from '../errors.ts';

const REASONS: Record<string, string> = {
  EADDRINUSE: 'the port is taken by another program; stop it or choose another port',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'ports below 1024 need privileges; choose another port',
};

/**
 * An error of listening, in the form Node gives it (`syscall` is `listen`, with `code` and `port`), as an error of
 * the setting the address comes from; undefined for every other error.
 */
export function listenFault(error: unknown, { config, sources }: Loaded): ConfigError | undefined {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'listen' && 'code' in error))
    return undefined;
  const isMetrics = 'port' in error && config.metrics.listen.endsWith(`:${error.port}`);
  const setting = isMetrics ? 'metrics.listen' : 'server.port';
  const address = isMetrics ? config.metrics.listen : `${config.server.host}:${config.server.port}`;
  const reason = REASONS[String(error.code)] ?? error.message;
  return new ConfigError(`${setting} (${sources[setting]}): cannot listen on ${address}: ${reason}`);
}
