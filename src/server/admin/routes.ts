/** `/admin/api/*`: the API of the operator's panel. Every route except the session routes requires authorization. */

import { z } from 'zod';
import { RequestError } from '../../lib/errors.ts';
import type { ClusterStatus } from '../../model/cluster-status.ts';
import type { IndexStats, IndexStatsState } from '../../model/index-stats.ts';
import type { IndexStatus } from '../../model/index-status.ts';
import type { SinkStatus } from '../../model/sink-status.ts';
import { notFound } from '../http/answer.ts';
import { closeIfChunked } from '../http/body.ts';
import { describeStatus, type PostgresStates } from '../http/health.ts';
import { methodAdapterFor, routeMeter, sendMetered } from '../http/route.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import type { LiveSocket } from '../ws/connections.ts';
import type { AdminAuth } from './auth.ts';
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

/** Most sockets listed individually. The totals cover all. */
const MAX_LISTED = 200;

/** Totals by endpoint and topic, and the sockets with the largest backlog. */
function describeSockets(sockets: readonly LiveSocket[]): object {
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

const HOOK_ACTIONS = ['pause', 'resume', 'test', 'delete'] as const;
type HookAction = (typeof HOOK_ACTIONS)[number];

/** What the panel may do with hooks and lists. */
interface AdminHooks {
  list(): object[];
  create(body: unknown): object;
  act(id: number, action: HookAction): object;
  lists(): object[];
}

/** A body of 1,000 wallets and 1,000 tokens. */
const MAX_HOOK_BODY_BYTES = 128 * 1024;

export interface AdminOptions {
  /** The operator token, not empty. */
  token: string;
  /** The latest index stats; starts a new measurement when they are old. */
  indexStats: () => IndexStatsState;
  /** Open WebSockets. */
  sockets: () => readonly LiveSocket[];
  hooks: AdminHooks;
  /** The settings in force by dotted path, secrets masked: `{"server.port": {value, source}}` as JSON text. */
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
}

type AddRoute = (
  method: 'get' | 'post',
  path: string,
  answer: (request: AdminRequest) => object | Promise<object>,
  maxBodyBytes?: number,
) => void;

const signInSchema = z.object({ token: z.string().min(1) });

/** Any page can make the operator's browser post wrong tokens, and ten of them would lock the operator out. */
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

  addAuthenticatedRoute('get', '/index', () =>
    describeIndex(
      indexState(),
      { sink: options.sinkState?.(), cluster: options.clusterState?.() },
      options.indexStats(),
      options.staleSeconds,
      Date.now(),
    ),
  );
  addAuthenticatedRoute('get', '/sockets', () => describeSockets(options.sockets()));
  addHookRoutes(addAuthenticatedRoute, options.hooks);
  addAuthenticatedRoute('get', '/config', () => ({ settings: JSON.parse(options.settings()) }));

  // Preflights too: no other origin may call these routes.
  const meter = routeMeter(options.metrics, 'other');
  const refuse = (res: HttpResponse, req: HttpRequest): void =>
    sendMetered(meter, options.replies, res, () => closeIfChunked(req, methodAdapterFor(req)(notFound(''))));
  app.options('/admin/*', refuse);
  app.any('/admin/*', refuse);
}

/** The id in a path. Throws RequestError `not_found` when it is not a number. */
function idOf(what: 'key' | 'hook', { id }: AdminRequest): number {
  if (!/^\d{1,15}$/.test(id)) throw new RequestError(404, 'not_found', `there is no ${what} ${id}`);
  return Number(id);
}

/** `key` and `days` of a query string; by default all keys and one day. */
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

function describeIndex(
  state: IndexStatus,
  postgres: PostgresStates,
  stats: IndexStatsState,
  staleSeconds: number,
  now: number,
): object {
  const { latest, failure } = stats;
  return {
    status: describeStatus(state, staleSeconds, now, postgres),
    survey: latest === null ? null : { ...latest, at: new Date(latest.at).toISOString() },
    surveyFailure: failure,
    forecast: latest === null ? null : forecast(state, latest),
  };
}

/**
 * Predicts the size of the file after the backfill and how long the disk will last then; null where unknown. Bytes per
 * transfer hardly change while a file grows, but transfers per block do: we assume that missing blocks are as busy as the
 * newest indexed ones. Starts from the block at which the stats were measured.
 */
function forecast({ startBlock, nodeHead }: IndexStatus, stats: IndexStats): object {
  const { fileBytes, freeBytes, growth, head, transfers } = stats;
  if (head === null || startBlock === null || transfers === 0)
    return { bytesPerDay: null, bytesWhenFilled: null, daysUntilFull: null };
  const bytesPerTransfer = fileBytes / transfers;
  const perBlock = growth?.transfersPerBlock ?? transfers / (head - startBlock + 1);
  const missing = Math.max(0, (nodeHead ?? head) - head) * perBlock * bytesPerTransfer;
  const bytesPerDay = growth === null ? null : Math.round(growth.transfersPerDay * bytesPerTransfer);
  return {
    bytesPerDay,
    bytesWhenFilled: Math.round(fileBytes + missing),
    daysUntilFull: bytesPerDay ? Math.max(0, Math.floor((freeBytes - missing) / bytesPerDay)) : null,
  };
}

function addHookRoutes(add: AddRoute, hooks: AdminHooks): void {
  add('get', '/hooks', () => ({ hooks: hooks.list() }));
  add('post', '/hooks', ({ body }) => ({ hook: hooks.create(body) }), MAX_HOOK_BODY_BYTES);
  for (const action of HOOK_ACTIONS)
    add('post', `/hooks/:id/${action}`, (request) => ({ hook: hooks.act(idOf('hook', request), action) }));
  add('get', '/lists', () => ({ lists: hooks.lists() }));
}
