/** HTTP requests as they go over the wire. Pure. */

export function getRequest(path: string, key = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${keyLine(key)}\r\n`;
}

/** `body` must be ASCII. */
export function postRequest(path: string, body: string, key = '', accept = '*/*'): string {
  const head =
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${keyLine(key)}` +
    `Accept: ${accept}\r\nContent-Type: application/json\r\n`;
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

function keyLine(key: string): string {
  return key === '' ? '' : `X-API-Key: ${key}\r\n`;
}
