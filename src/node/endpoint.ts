/** The parts of a node's URL, split so that its secrets reach only the node. */
export interface Endpoint {
  /** `http://host:port` or `ws://host:port`. The only part allowed in messages and logs. */
  origin: string;
  /** Path and query; providers put API keys here. */
  path: string;
  /** Authorization header built from `user:password@`, if the URL has it. */
  authorization: string | undefined;
}

/** Splits an absolute http, https, ws or wss URL. Throws TypeError for anything else. */
export function parseEndpoint(url: string): Endpoint {
  const { origin, pathname, search, username, password } = new URL(url);
  if (origin === 'null') throw new TypeError('the URL of a node must start with http, https, ws or wss');
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    origin,
    path: pathname + search,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`,
  };
}
