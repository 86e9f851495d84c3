/** `/admin/api/*`: the API of the operator's panel. Every route except those of the session needs authorization. */
import { z } from 'zod';
import { RequestError } from '../errors.ts';
import type { IndexStatus, LiveSocket, SurveyState } from '../types.ts';
import type { AdminAuth } from './admin-auth.ts';
import { describeIndex } from './admin-index.ts';
import { type AdminAccess, createKey, listKeys, revokeKey, rotateKey, usageHistory } from './admin-keys.ts';
import { type AdminRequest, addAdminRoute, type RouteContext } from './admin-route.ts';
import { describeSockets } from './admin-sockets.ts';
import { notFound } from './answer.ts';
import { closeIfChunked } from './body.ts';
import { methodAdapterFor } from './get-route.ts';
import { routeMeter, sendMetered } from './meter.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws.ts';

export interface AdminOptions {
  /** The operator token, not empty. */
  token: string;
  /** The last survey of the index file; starts a new one when it is old. */
  survey: () => SurveyState;
  /** Open WebSockets. */
  sockets: () => readonly LiveSocket[];
  /** The settings in force by dotted path, secrets masked: `{"server.port": {value, source}}` as JSON text. */
  settings: () => string;
}

interface AdminRouteDeps extends AdminOptions, RouteContext {
  auth: AdminAuth;
  access: AdminAccess;
  indexState: () => IndexStatus;
}

const signInSchema = z.object({ token: z.string().min(1) });

/** Any page can have the operator's browser post a wrong token, and ten of them would lock the operator out. */
const NOT_THE_PANEL = new RequestError(
  403,
  'not_the_panel',
  'only the panel signs in; programs send the token as "Authorization: Bearer"',
);

/** Registers the routes of the panel. */
export function addAdminRoutes(app: TemplatedApp, options: AdminRouteDeps): void {
  const { access, auth, indexState, log } = options;
  const addAuthenticatedRoute = (
    method: 'get' | 'post',
    path: string,
    answer: (request: AdminRequest) => object,
  ) =>
    addAdminRoute(app, options, method, path, (request) => {
      auth.authorize(request.credentials);
      return { body: answer(request) };
    });

  addAdminRoute(app, options, 'post', '/session', ({ body, credentials, secure }) => {
    if (credentials.csrfHeader === '') throw NOT_THE_PANEL;
    const parsed = signInSchema.safeParse(body);
    if (!parsed.success) throw new RequestError(400, 'invalid_body', 'send {"token": "..."}');
    const cookie = auth.signIn(parsed.data.token, credentials.clientNetwork, secure);
    log.info({ from: credentials.clientNetwork }, 'operator signed in');
    return { body: { signedIn: true }, cookie };
  });
  addAdminRoute(app, options, 'del', '/session', ({ credentials, secure }) => ({
    body: { signedIn: false },
    cookie: auth.signOut(credentials.cookie, secure),
  }));
  addAdminRoute(app, options, 'get', '/session', ({ credentials }) => ({
    body: { signedIn: auth.isSignedIn(credentials) },
  }));

  addAuthenticatedRoute('get', '/keys', () => listKeys(access, Date.now()));
  addAuthenticatedRoute('post', '/keys', ({ body }) => {
    const issued = createKey(access, body);
    const { id, name, tier } = issued.record;
    log.info({ id, name, tier }, 'operator created a key');
    return issued;
  });
  addAuthenticatedRoute('post', '/keys/:id/rotate', (request) => {
    const id = keyId(request);
    const issued = rotateKey(access, id);
    log.info({ id }, 'operator rotated a key');
    return issued;
  });
  addAuthenticatedRoute('post', '/keys/:id/revoke', (request) => {
    const id = keyId(request);
    const revoked = revokeKey(access, id);
    log.info({ id }, 'operator revoked a key');
    return revoked;
  });
  addAuthenticatedRoute('get', '/usage', ({ query }) => usageHistory(access, usageQuery(query), Date.now()));

  addAuthenticatedRoute('get', '/index', () => describeIndex(indexState(), options.survey(), Date.now()));
  addAuthenticatedRoute('get', '/sockets', () => describeSockets(options.sockets()));
  addAuthenticatedRoute('get', '/config', () => ({ settings: JSON.parse(options.settings()) }));

  // Preflights too: other origins have no business here.
  const meter = routeMeter(options.metrics, 'other');
  const refuse = (res: HttpResponse, req: HttpRequest): void =>
    sendMetered(meter, options.replies, res, () => closeIfChunked(req, methodAdapterFor(req)(notFound(''))));
  app.options('/admin/*', refuse);
  app.any('/admin/*', refuse);
}

/** The key id in a path. Throws RequestError `not_found` when it is not a number. */
function keyId({ id }: AdminRequest): number {
  if (!/^\d{1,15}$/.test(id)) throw new RequestError(404, 'not_found', `there is no key ${id}`);
  return Number(id);
}

/** `key` and `days` of a query string; all keys and one day unless given. */
function usageQuery(query: URLSearchParams): { key: number | null; days: number } {
  const number = (name: string): number | null => {
    const text = query.get(name);
    if (text === null) return null;
    if (!/^\d{1,9}$/.test(text)) {
      throw new RequestError(400, 'invalid_parameter', `${name} must be a whole number`, name);
    }
    return Number(text);
  };
  return { key: number('key'), days: number('days') ?? 1 };
}
