/** Which settings take effect in a running daemon on reload. */
import type { Config, ParsedConfig } from './parse-config.ts';
import { configSchema } from './schema.ts';
import { flatten, unflatten } from './tree.ts';

interface ReloadResult {
  /** The effective configuration. */
  parsed: ParsedConfig;
  /** Dotted paths of changed settings, and of those whose change needs a restart. */
  changed: string[];
  ignored: string[];
}

/** Settings that may change at run time, by dotted path. A table includes all its settings. */
const RELOADABLE = [
  ...['tiers', 'queries', 'log.level', 'server.cors_origins', 'server.tls_cert', 'server.tls_key'],
];

/** The effective configuration after reloading `next` over `current`. TLS cannot be turned on or off. */
export function mergeReload(current: ParsedConfig, next: ParsedConfig): ReloadResult {
  const keepsTls = (next.config.server.tls_cert === '') === (current.config.server.tls_cert === '');
  const isTaken = (path: string) => isReloadable(path) && (keepsTls || !path.startsWith('server.tls_'));
  const leaves = merge(flatten(current.config), flatten(next.config), isTaken);
  const sources = merge(Object.entries(current.sources), Object.entries(next.sources), isTaken);
  const config = configSchema.parse(unflatten(leaves));
  return {
    parsed: { config, sources: Object.fromEntries(sources) },
    changed: differences(current.config, config),
    ignored: differences(config, next.config),
  };
}

function isReloadable(path: string): boolean {
  return RELOADABLE.some((setting) => path === setting || path.startsWith(`${setting}.`));
}

/** Values by dotted path: those taken from `next`, all others from `current`. */
function merge<V>(
  current: Iterable<[string, V]>,
  next: Iterable<[string, V]>,
  isTaken: (path: string) => boolean,
): Map<string, V> {
  return new Map([
    ...[...current].filter(([path]) => !isTaken(path)),
    ...[...next].filter(([path]) => isTaken(path)),
  ]);
}

function differences(a: Config, b: Config): string[] {
  const [before, after] = [flatten(a), flatten(b)];
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => JSON.stringify(before.get(path)) !== JSON.stringify(after.get(path)),
  );
}
