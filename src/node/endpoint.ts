/** The parts of a node's URL, split so that its secrets go to the node and nowhere else. */
export interface Endpoint {
  /** `http://host:port` or `ws://host:port`: the only part that may appear in messages and logs. */
  origin: string;
  /** Path and query; providers put API keys here. */
  path: string;
  /** Value of the Authorization header made of `user:password@`, if the URL has one. */
  authorization: string | undefined;
}

/** Splits an absolute http, https, ws or wss URL; throws a TypeError for anything else. */
export function parseEndpoint(url: string): Endpoint {
  const { origin, pathname, search, username, password } = new URL(url);
  if (origin === 'null') throw new TypeError('the URL of a node begins with http, https, ws or wss');
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    origin,
    path: pathname + search,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`,
  };
}
