/** Routes of GET. */
import { headOf } from './answer.ts';
import { comesInChunks } from './body.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws.ts';

/** Adapts an answer to the request's method, GET or HEAD. */
export type Shape = typeof headOf;

const whole: Shape = <T>(answer: T): T => answer;

/** The shape for a request's method, where one handler answers several. */
export function shapeFor(req: HttpRequest): Shape {
  return req.getMethod() === 'head' ? headOf : whole;
}

type Handler = (res: HttpResponse, req: HttpRequest) => void;

/** Registers what answers GET, and HEAD in the same way but without the body. Who sends a body in chunks is cut off. */
export function addGetRoute(app: TemplatedApp, path: string, answering: (shape: Shape) => Handler): void {
  app.get(path, withoutChunks(answering(whole)));
  app.head(path, withoutChunks(answering(headOf)));
}

function withoutChunks(answer: Handler): Handler {
  return (res, req) => {
    if (comesInChunks(req)) res.close();
    else answer(res, req);
  };
}
