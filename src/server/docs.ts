/** The documentation of the REST API: /openapi.json for programs, /docs for people. Needs no key. */
import { openApiDocument } from '../api/openapi.ts';
import { version } from '../version.ts';
import { docsPage } from './docs-page.ts';
import { FixedBody } from './fixed-body.ts';
import { addGetRoute } from './get-route.ts';
import { type HttpMetrics, routeMeter, sendMetered } from './meter.ts';
import type { ReplyWriter } from './reply.ts';
import type { HttpRequest, TemplatedApp } from './uws.ts';

const DOCUMENT = openApiDocument(version);

export const OPENAPI_PATH = '/openapi.json';

/** The page, as one of the files of static.ts. */
export function docsAssets(): [name: string, content: Buffer][] {
  return [['docs/index.html', Buffer.from(docsPage(DOCUMENT))]];
}

/** Registers the document; pages of other origins may read it. */
export function addOpenApiRoute(
  app: TemplatedApp,
  {
    replies,
    cors,
    metrics,
  }: { replies: ReplyWriter; cors: (req: HttpRequest) => string; metrics: HttpMetrics },
): void {
  const meter = routeMeter(metrics, OPENAPI_PATH);
  const body = new FixedBody(JSON.stringify(DOCUMENT), '\r\nContent-Type: application/json');
  addGetRoute(app, OPENAPI_PATH, (adapt) => (res, req) => {
    sendMetered(meter, replies, res, () => adapt(body.answerTo(req, 'revalidate', cors(req))));
  });
}
