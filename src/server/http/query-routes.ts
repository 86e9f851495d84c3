/** Routes of the named queries, which a reload of the configuration replaces: one route finds them by name. */
import type { NamedQueries, PreparedQuery } from '../../api/queries/named-queries.ts';
import { QUERIES_PATH } from '../../api/queries/query-endpoint.ts';
import { RequestError } from '../../lib/errors.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import { type Answer, errorAnswer, rateLimitHeaders, tooManyRequests, unauthorized } from './answer.ts';
import { authenticate } from './request.ts';
import { getHandler, type RestRouteDeps } from './rest-routes.ts';
import { addGetRoute, type MethodAdapter, routeMeter, sendMetered } from './route.ts';

interface QueryRouteDeps extends RestRouteDeps {
  queries: NamedQueries;
}

type AdaptedHandler = ReturnType<typeof getHandler>;

export function addQueryRoutes(app: TemplatedApp, deps: QueryRouteDeps): void {
  const { queries, replies } = deps;
  const handlers = new WeakMap<PreparedQuery, AdaptedHandler>();
  const handlerOf = (query: PreparedQuery): AdaptedHandler => {
    const handler = handlers.get(query) ?? getHandler(query, deps);
    handlers.set(query, handler);
    return handler;
  };
  // Names that no query has come from clients, so they share a label.
  const meter = routeMeter(deps.metrics, 'other');
  addGetRoute(
    app,
    `${QUERIES_PATH}/:name`,
    (adapt: MethodAdapter) => (res: HttpResponse, req: HttpRequest) => {
      const query = queryAt(queries, req.getUrl());
      if (query === undefined) sendMetered(meter, replies, res, () => adapt(noSuchQuery(req, deps)));
      else handlerOf(query)(adapt)(res, req);
    },
  );
}

/** The query at a path. */
export function queryAt(queries: Pick<NamedQueries, 'get'>, path: string): PreparedQuery | undefined {
  const prefix = `${QUERIES_PATH}/`;
  return path.startsWith(prefix) ? queries.get(path.slice(prefix.length)) : undefined;
}

function noSuchQuery(req: HttpRequest, { access, cors }: QueryRouteDeps): Answer {
  const headers = cors(req);
  const key = authenticate(access, req);
  if (key === null) return unauthorized(headers);
  const admission = access.limiter.admit(key, 1);
  if (!admission.ok) return tooManyRequests(admission, headers);
  const error = new RequestError(404, 'not_found', `there is no such query: GET ${QUERIES_PATH} lists them`);
  return errorAnswer(error, headers + rateLimitHeaders(admission));
}
