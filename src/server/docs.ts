/** The documentation of the REST API: /openapi.json for programs, /docs for people. Needs no key. */
import { openApiDocument } from '../api/openapi.ts';
import { version } from '../version.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import { compressAnswer, compressorsOfOneBody } from './compress.ts';
import { docsPage } from './docs-page.ts';
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
  const body = JSON.stringify(DOCUMENT);
  const compressors = compressorsOfOneBody();
  addGetRoute(app, OPENAPI_PATH, (adapt) => (res, req) => {
    sendMetered(meter, replies, res, () => {
      const answer: Answer = { ...jsonAnswer(200, body, cors(req)), cache: 'revalidate' };
      return adapt(compressAnswer(answer, req.getHeader('accept-encoding'), compressors));
    });
  });
}
