/** `/admin/api/*`: the API of the operator's panel. Every route except the session routes requires authorization. */

import * as z from 'zod';
import type { hookJson } from '../../hooks/hook-json.ts';
import type { Labels } from '../../labels/labels.ts';
import { RequestError } from '../../lib/errors.ts';
import type { Activity } from '../../metrics/activity.ts';
import type { ClusterStatus } from '../../model/cluster-status.ts';
import type { IndexStatsState } from '../../model/index-stats.ts';
import type { IndexStatus } from '../../model/index-status.ts';
import type { SinkStatus } from '../../model/sink-status.ts';
import { notFound } from '../http/answer.ts';
import { closeIfChunked } from '../http/body.ts';
import { describeStatus } from '../http/health.ts';
import { methodAdapterFor, routeMeter, sendMetered } from '../http/route.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import type { LiveSocket } from '../ws/connections.ts';
import type { AdminAuth } from './auth.ts';
import { type DiskSizes, describeIndex, describeOverview, describeSockets } from './describe.ts';
import {
  type AdminAccess,
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  updateKey,
  usageHistory,
} from './keys.ts';
import { type AdminRequest, addAdminRoute, type RouteContext } from './route.ts';
import { type AdminSql, MAX_SQL_BODY_BYTES, readQuery } from './sql.ts';

const HOOK_ACTIONS = ['pause', 'resume', 'test', 'delete'] as const;
type HookAction = (typeof HOOK_ACTIONS)[number];

/** The operations of the panel on hooks and lists. */
export interface AdminHooks {
  list(): HookJson[];
  create(body: unknown): HookJson & { secret: string };
  /** Changes the URL, the filter or both. */
  update(id: number, body: unknown): HookJson;
  /** Gives the hook a new secret. */
  rotate(id: number): HookJson & { secret: string };
  act(id: number, action: HookAction): HookJson;
  lists(): { name: string; addresses: number; importedAt: number }[];
}

type HookJson = ReturnType<typeof hookJson>;

/** Fits 1,000 wallets and 1,000 tokens. */
const MAX_HOOK_BODY_BYTES = 128 * 1024;

export interface AdminOptions {
  /** The operator token. Not empty. */
  token: string;
  /** The latest index stats. Starts a new measurement when they are old. */
  indexStats: () => IndexStatsState;
  diskSizes?: () => DiskSizes;
  /** Open WebSockets. */
  sockets: () => readonly LiveSocket[];
  /** Closes a socket by its id; false when it is not open. */
  closeSocket: (id: number) => boolean;
  hooks: AdminHooks;
  labels: Pick<Labels, 'count' | 'summary'>;
  activity: () => Activity;
  sql?: AdminSql;
  /** The effective settings by dotted path, secrets masked: `{"server.port": {value, source}}` as JSON text. */
  settings: () => string;
}

interface AdminRouteDeps extends AdminOptions, RouteContext {
  auth: AdminAuth;
  access: AdminAccess;
  indexState: () => IndexStatus;
  sinkState?: (() => SinkStatus) | undefined;
  clusterState?: (() => ClusterStatus) | undefined;
  /** `index.stale_seconds`. */
  staleSeconds: number;
  /** Whether new blocks keep arriving in step with time. */
  keepsTime: () => boolean;
}

type AddRoute = (
  method: 'get' | 'post',
  path: string,
  answer: (request: AdminRequest) => object | Promise<object>,
  maxBodyBytes?: number,
) => void;

const signInSchema = z.object({ token: z.string().min(1) });

/** Any web page can make the operator's browser post wrong tokens, and ten of them would lock the operator out. */
const NOT_THE_PANEL = new RequestError(
  403,
  'not_the_panel',
  'only the panel signs in; programs send the token as "Authorization: Bearer"',
);

/** Registers the routes of the panel. */
export function addAdminRoutes(app: TemplatedApp, options: AdminRouteDeps): void {
  const { access, auth, indexState, log } = options;
  const addAuthenticatedRoute: AddRoute = (method, path, answer, maxBodyBytes) =>
    addAdminRoute(
      app,
      options,
      method,
      path,
      (request) => {
        auth.authorize(request.credentials);
        const body = answer(request);
        return body instanceof Promise ? body.then((body) => ({ body })) : { body };
      },
      {
        ...(maxBodyBytes !== undefined && { maxBodyBytes }),
        beforeBody: ({ credentials }) => auth.authorize(credentials),
      },
    );

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
  addAuthenticatedRoute('post', '/keys', async ({ body }) => {
    const issued = await createKey(access, body);
    const { id, name, tier } = issued.record;
    log.info({ id, name, tier }, 'operator created a key');
    return issued;
  });
  addAuthenticatedRoute('post', '/keys/:id', async (request) => {
    const id = idOf('key', request);
    const updated = await updateKey(access, id, request.body);
    log.info({ id }, 'operator changed a key');
    return updated;
  });
  addAuthenticatedRoute('post', '/keys/:id/rotate', async (request) => {
    const id = idOf('key', request);
    const issued = await rotateKey(access, id);
    log.info({ id }, 'operator rotated a key');
    return issued;
  });
  addAuthenticatedRoute('post', '/keys/:id/revoke', async (request) => {
    const id = idOf('key', request);
    const revoked = await revokeKey(access, id);
    log.info({ id }, 'operator revoked a key');
    return revoked;
  });
  addAuthenticatedRoute('get', '/usage', ({ query }) => usageHistory(access, usageQuery(query), Date.now()));

  const status = () =>
    describeStatus(indexState(), options.staleSeconds, Date.now(), {
      sink: options.sinkState?.(),
      cluster: options.clusterState?.(),
      keepsTime: options.keepsTime(),
    });
  addAuthenticatedRoute('get', '/overview', () =>
    describeOverview(status(), options.activity(), {
      sockets: options.sockets().length,
      hooks: options.hooks.list().length,
      labels: options.labels.count,
    }),
  );
  addAuthenticatedRoute('get', '/index', () =>
    describeIndex(status(), { ...options.indexStats(), disk: options.diskSizes?.() }),
  );
  addAuthenticatedRoute('get', '/sockets', () => describeSockets(options.sockets()));
  addAuthenticatedRoute('post', '/sockets/:id/close', (request) => {
    const id = idOf('socket', request);
    if (!options.closeSocket(id)) throw new RequestError(404, 'not_found', `there is no socket ${id}`);
    log.info({ id }, 'operator closed a socket');
    return { closed: true };
  });
  addAuthenticatedRoute('get', '/labels', () => ({ labels: options.labels.summary() }));
  addHookRoutes(addAuthenticatedRoute, options.hooks);
  if (options.sql !== undefined) addSqlRoutes(addAuthenticatedRoute, options.sql);
  addAuthenticatedRoute('get', '/config', () => ({ settings: JSON.parse(options.settings()) }));

  // Answer preflights too: no other origin may call these routes.
  const meter = routeMeter(options.metrics, 'other');
  const refuse = (res: HttpResponse, req: HttpRequest): void =>
    sendMetered(meter, options.replies, res, () => closeIfChunked(req, methodAdapterFor(req)(notFound(''))));
  app.options('/admin/*', refuse);
  app.any('/admin/*', refuse);
}

/** The id in a path. Throws RequestError `not_found` when it is not a number. */
function idOf(what: 'key' | 'hook' | 'socket', { id }: AdminRequest): number {
  if (!/^\d{1,15}$/.test(id)) throw new RequestError(404, 'not_found', `there is no ${what} ${id}`);
  return Number(id);
}

/** `key` and `days` of a query string. Default: all keys, one day. */
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

function addSqlRoutes(add: AddRoute, sql: AdminSql): void {
  add('get', '/sql', () => sql.describe());
  add(
    'post',
    '/sql',
    ({ body, gone }) => {
      const { query, limit } = readQuery(body);
      return sql.run(query, limit, gone);
    },
    MAX_SQL_BODY_BYTES,
  );
}

function addHookRoutes(add: AddRoute, hooks: AdminHooks): void {
  add('get', '/hooks', () => ({ hooks: hooks.list() }));
  add('post', '/hooks', ({ body }) => ({ hook: hooks.create(body) }), MAX_HOOK_BODY_BYTES);
  add(
    'post',
    '/hooks/:id',
    (request) => ({ hook: hooks.update(idOf('hook', request), request.body) }),
    MAX_HOOK_BODY_BYTES,
  );
  add('post', '/hooks/:id/rotate', (request) => ({ hook: hooks.rotate(idOf('hook', request)) }));
  for (const action of HOOK_ACTIONS)
    add('post', `/hooks/:id/${action}`, (request) => ({ hook: hooks.act(idOf('hook', request), action) }));
  add('get', '/lists', () => ({ lists: hooks.lists() }));
}
