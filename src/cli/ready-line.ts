/** The line by which the daemon says that it serves, and by which programs that start it learn its address. */

/** The addresses a client needs, on one line. */
export function readyLine(url: string): string {
  const sockets = url.replace(/^http/, 'ws');
  return `atlas-node is ready: REST ${url}/api  RPC ${url}/rpc  WebSocket ${sockets}/ws and ${sockets}/ws/signals`;
}

/** The address in a text that has the line, or undefined. */
export function readyUrl(text: string): string | undefined {
  return /is ready: REST (\S+)\/api /.exec(text)?.[1];
}
