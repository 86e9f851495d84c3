/**
 * The connections to receivers: one per hook, kept open between its messages. Hooks to the same host share none, so
 * none waits behind another's slow answer.
 */
import type { Agent, ClientRequest, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { http } from '../lib/http.ts';
import { checkedLookup } from './target.ts';

/**
 * An unused connection is closed after this time, milliseconds: before most receivers do, at 5 s, in the way of a
 * message.
 */
const IDLE_MS = 4_000;

interface HookRequest extends RequestOptions {
  hook: number;
}

export class Connections {
  private readonly agents: { http: Agent; https: Agent };

  constructor({ allowPrivate }: { allowPrivate: boolean }) {
    const lookup = checkedLookup(allowPrivate);
    const options = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1, timeout: IDLE_MS, lookup };
    this.agents = {
      http: onePerHook(new http.Agent(options)),
      https: onePerHook(new HttpsAgent(options)),
    };
  }

  /** A request on the connection of a hook. It waits until an earlier answer to this hook has been read. */
  request(target: URL, options: HookRequest): ClientRequest {
    const isTls = target.protocol === 'https:';
    const agent = isTls ? this.agents.https : this.agents.http;
    return (isTls ? httpsRequest : http.request)(target, { ...options, agent });
  }

  close(): void {
    this.agents.http.destroy();
    this.agents.https.destroy();
  }
}

/**
 * Node counts and shares connections by name. And it leaves a connection without a listener for errors when it hands it
 * from one request to the next, so a receiver that answers early and closes would end the thread.
 */
function onePerHook(agent: Agent): Agent {
  const nameOf = agent.getName.bind(agent);
  const connect = agent.createConnection.bind(agent);
  agent.getName = (options) => `${nameOf(options)}:${hookOf(options)}`;
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    socket?.on('error', () => undefined); // reported by the request, if there is one
    return socket;
  };
  return agent;
}

function hookOf(options: object | undefined): unknown {
  return options !== undefined && 'hook' in options ? options.hook : '';
}
