/** Open WebSockets as the panel shows them. */
import type { LiveSocket } from '../types.ts';

/** Most sockets listed individually; the totals cover all. */
const MAX_LISTED = 200;

/** Totals by endpoint and topic, and the sockets with the largest backlog. */
export function describeSockets(sockets: readonly LiveSocket[]): object {
  const endpoints: Record<string, number> = {};
  const topics: Record<string, number> = {};
  for (const socket of sockets) {
    endpoints[socket.endpoint] = (endpoints[socket.endpoint] ?? 0) + 1;
    for (const topic of socket.topics) topics[topic] = (topics[topic] ?? 0) + 1;
  }
  const listed = [...sockets].sort((a, b) => b.backlogBytes - a.backlogBytes || a.openedAt - b.openedAt);
  return {
    total: sockets.length,
    endpoints,
    topics,
    sockets: listed.slice(0, MAX_LISTED).map(({ openedAt, ...socket }) => ({
      ...socket,
      openedAt: new Date(openedAt).toISOString(),
    })),
  };
}
