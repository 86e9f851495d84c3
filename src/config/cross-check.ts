/** Rules that involve two settings. */
import { ConfigError } from '../errors.ts';
import type { Config } from './schema.ts';
import { parseListen } from './values.ts';

/** Throws a ConfigError naming the settings that contradict each other, and where each is set. */
export function crossCheck(config: Config, sources: Record<string, string>): void {
  const { server, rpc, stream } = config;
  const at = (path: string) => `${path} (${sources[path]})`;

  if ((server.tls_cert === '') !== (server.tls_key === '')) {
    const [set, empty] = server.tls_cert
      ? ['server.tls_cert', 'server.tls_key']
      : ['server.tls_key', 'server.tls_cert'];
    throw new ConfigError(`${at(set)} is set but ${empty} is empty: set both for TLS, or neither`);
  }
  if (rpc.logs_node_range > rpc.logs_max_range) {
    throw new ConfigError(`${at('rpc.logs_node_range')} must not be above ${at('rpc.logs_max_range')}`);
  }
  if (stream.ping_seconds >= stream.idle_seconds) {
    throw new ConfigError(`${at('stream.ping_seconds')} must be below ${at('stream.idle_seconds')}`);
  }
  const listen = parseListen(config.metrics.listen);
  if (listen && listen.port !== 0 && listen.port === server.port && listen.host === server.host) {
    throw new ConfigError(
      `${at('metrics.listen')} is the address of ${at('server.port')}: choose another port`,
    );
  }
}
