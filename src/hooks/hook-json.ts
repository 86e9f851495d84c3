/** Hooks as panel and command line show them. */
import type { Hook } from './hook-store.ts';

/** Without secrets and without the parts of the URL that may be secret. */
export function hookJson(hook: Hook) {
  const { url, secret: _, oldSecrets, filter, cursor, ...shown } = hook;
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const until = Math.max(0, ...oldSecrets.map(({ until }) => until));
  return {
    ...shown,
    url: redactUrl(url),
    filter: JSON.parse(filter),
    finality: hook.finality === 1,
    cursorBlock: cursor.number,
    oldSecretUntil: iso(until > Date.now() ? until : null),
    createdAt: iso(hook.createdAt),
    failingSince: iso(hook.failingSince),
    nextAttemptAt: iso(hook.nextAttemptAt),
    lastSuccessAt: iso(hook.lastSuccessAt),
    testRequestedAt: iso(hook.testRequestedAt),
  };
}

/** Scheme, host and port. The rest may be secret. */
export function redactUrl(url: string): string {
  return `${new URL(url).origin}/...`;
}
