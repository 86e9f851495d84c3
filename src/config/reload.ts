/** Which settings take effect in a running daemon when the configuration is reloaded. */
import type { Config, ParsedConfig, Sources } from '../config.ts';
import { flatten } from './tree.ts';

export interface ReloadResult {
  /** The configuration now in force. */
  parsed: ParsedConfig;
  /** Dotted paths of settings that changed, and of those whose change needs a restart. */
  changed: string[];
  ignored: string[];
}

/** Settings that may change while the daemon runs, by dotted path; a table stands for all its settings. */
const RELOADABLE = ['tiers', 'log.level', 'server.cors_origins', 'server.tls_cert', 'server.tls_key'];

/** The configuration in force after reloading `next` over `current`. TLS cannot be turned on or off. */
export function mergeReload(current: ParsedConfig, next: ParsedConfig): ReloadResult {
  const config = merge(current.config, next.config);
  const ignored = differences(config, next.config);
  return {
    parsed: { config, sources: mergeSources(current.sources, next.sources, ignored) },
    changed: differences(current.config, config),
    ignored,
  };
}

function merge(current: Config, next: Config): Config {
  const { cors_origins, tls_cert, tls_key } = next.server;
  const keepsTls = (tls_cert === '') === (current.server.tls_cert === '');
  const tls = keepsTls ? { tls_cert, tls_key } : {};
  return {
    ...current,
    tiers: next.tiers,
    log: { ...current.log, level: next.log.level },
    server: { ...current.server, cors_origins, ...tls },
  };
}

function mergeSources(current: Sources, next: Sources, ignored: string[]): Sources {
  const isTaken = (path: string) => isReloadable(path) && !ignored.includes(path);
  return Object.fromEntries([
    ...Object.entries(current).filter(([path]) => !isTaken(path)),
    ...Object.entries(next).filter(([path]) => isTaken(path)),
  ]);
}

function isReloadable(path: string): boolean {
  return RELOADABLE.some((setting) => path === setting || path.startsWith(`${setting}.`));
}

function differences(a: Config, b: Config): string[] {
  const [before, after] = [flatten(a), flatten(b)];
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => JSON.stringify(before.get(path)) !== JSON.stringify(after.get(path)),
  );
}
