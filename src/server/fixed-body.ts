/** A body that stays the same while the server runs: it has an ETag and is compressed once for each encoding. */
import { createHash } from 'node:crypto';
import type { Answer } from './answer.ts';
import { compressAnswer, compressorsOfOneBody } from './compress.ts';
import { matchesAnyEtag, matchesEtag } from './etag.ts';
import type { HttpRequest } from './uws.ts';

/**
 * One in so many 304 answers is a 200 with the body instead: only a body shows whether the client reads its answers
 * (see reply.ts), and no key is needed here.
 */
const FULL_ANSWER_EVERY = 16;

export class FixedBody {
  private readonly body: string | Buffer;
  private readonly headers: string;
  private readonly etag: string;
  private readonly compressors = compressorsOfOneBody();
  private notModifiedCount = 0;

  /** `headers` are lines that each begin with CRLF. */
  constructor(body: string | Buffer, headers: string) {
    this.body = body;
    this.etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    this.headers = `${headers}\r\nETag: ${this.etag}`;
  }

  /** The answer to a request: 304 when the client has the body. `headers` are further ones of this answer alone. */
  answerTo(req: HttpRequest, cache: Answer['cache'], headers = ''): Answer | Promise<Answer> {
    const answer = { headers: this.headers + headers, cache };
    const ifNoneMatch = req.getHeader('if-none-match');
    const isKnown = matchesEtag(ifNoneMatch, this.etag) || matchesAnyEtag(ifNoneMatch);
    if (isKnown && ++this.notModifiedCount % FULL_ANSWER_EVERY !== 0)
      return { ...answer, status: 304, body: null };
    const full: Answer = { ...answer, status: 200, body: this.body };
    return compressAnswer(full, req.getHeader('accept-encoding'), this.compressors);
  }
}
