/** URLs in settings and flags. Apart from values.ts, so that a command without settings does not load its package. */

/** The URLs of a comma-separated list. Does not split at a comma within a URL. */
export function splitUrls(value: string): string[] {
  return value.split(/\s*,\s*(?=(?:https?|wss?):|,|$)/);
}

/** The nodes of `node_http` and `node_ws`, the preferred one first. */
export function nodeAddresses({
  node_http,
  node_ws,
}: {
  node_http: string;
  node_ws: string;
}): { http: string; ws: string }[] {
  const sockets = splitUrls(node_ws);
  return splitUrls(node_http).map((http, i) => ({ http, ws: sockets[i] ?? '' }));
}

export function isHttpUrl(value: string): boolean {
  return hasScheme(value, ['http:', 'https:']);
}

export function isWebSocketUrl(value: string): boolean {
  return hasScheme(value, ['ws:', 'wss:']);
}

export function isPostgresUrl(value: string): boolean {
  return hasScheme(value, ['postgres:', 'postgresql:']);
}

function hasScheme(value: string, schemes: string[]): boolean {
  return (
    URL.canParse(value) &&
    schemes.includes(new URL(value).protocol) &&
    /^[^,]+$/.test(new URL(value).hostname)
  );
}
