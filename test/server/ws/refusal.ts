/** How an upgrade to a WebSocket is refused. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export async function refusal(url: string, options: { headers?: Record<string, string> }) {
  const socket = new WebSocket(url.replace('http', 'ws'), options);
  const [, response] = await once(socket, 'unexpected-response');
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode as number, body };
}
