/** A server with the operator's panel on, for tests. */
import type { TestContext } from 'node:test';
import type { AdminOptions } from '../../src/server/admin.ts';
import type { LiveSocket, SurveyState } from '../../src/types.ts';
import { type Serving, type ServingOptions, serve } from './serving.ts';

export const TOKEN = 'correct horse battery staple';

export interface Operating extends Serving {
  sockets: LiveSocket[];
  survey: SurveyState;
  /** A request to `/admin/api` with the operator token. */
  operate(path: string, init?: RequestInit): Promise<Response>;
}

export async function operate(t: TestContext, options: ServingOptions = {}): Promise<Operating> {
  const sockets: LiveSocket[] = [];
  const survey: SurveyState = { latest: null, failure: null };
  const admin: AdminOptions = {
    token: TOKEN,
    survey: () => survey,
    sockets: () => sockets,
    settings: () => JSON.stringify({ 'server.port': { value: 8650, source: 'default' } }),
  };
  const serving = await serve(t, { admin, ...options });
  return {
    ...serving,
    sockets,
    survey,
    operate: (path, init = {}) =>
      fetch(`${serving.server.url}/admin/api${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${TOKEN}`, ...init.headers },
      }),
  };
}
