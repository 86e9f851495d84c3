/** ETags of constant bodies and of REST answers. */
import { createHash, randomInt } from 'node:crypto';
import type { ApiResult } from '../../api/read-pool/read-pool.ts';
import type { HttpRequest } from '../uws.ts';
import type { Answer } from './answer.ts';
import { compressAnswer, compressorsOfOneBody } from './compress.ts';

/**
 * One in this many 304 answers becomes a 200 with the body. Only a body shows whether the client reads its answers
 * (write-answer.ts), and these routes need no key.
 */
const FULL_ANSWER_EVERY = 16;

/** A constant body with its ETag, compressed once per encoding. */
export class CachedResponse {
  private readonly body: string | Buffer;
  private readonly headers: string;
  private readonly etag: string;
  private readonly compressors = compressorsOfOneBody();
  private notModifiedCount = 0;

  /** `headers` are header lines, each preceded by CRLF. */
  constructor(body: string | Buffer, headers: string) {
    this.body = body;
    this.etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    this.headers = `${headers}\r\nETag: ${this.etag}`;
  }

  /** The answer to a request: 304 when the client already has the body. `headers` are added to this answer only. */
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

/** Identifies this process. Each process counts revisions from its start. */
const PROCESS = randomInt(2 ** 31).toString(36);

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Returns a function that builds the ETag of a path's answer from the state of the index, the query and any other input
 * of the answer. The tags are weak because compression changes the bytes but not the meaning.
 */
export function etagBuilder(
  path: string,
): (
  head: Pick<ApiResult['head'], 'number' | 'hashPrefix' | 'revision' | 'rewrites'>,
  query: string,
) => string {
  const seed = fnv1a(path, FNV_OFFSET);
  return ({ number, hashPrefix, revision, rewrites }, query) => {
    const rewrite = rewrites.length === 0 ? '' : `r${rewrites.at(-1)!.number}`;
    return `W/"${number}-${hashPrefix}-${PROCESS}${revision}${rewrite}-${fnv1a(query, seed)}"`;
  };
}

/** Whether an If-None-Match header matches every successful answer (RFC 9110, section 13.1.2). */
export function matchesAnyEtag(ifNoneMatch: string): boolean {
  return ifNoneMatch === '*';
}

/** Whether an If-None-Match header contains the tag. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch !== '' && ifNoneMatch.includes(etag.slice(2));
}

/** FNV-1a cut to 31 bits, because small integers convert to text ten times as fast as others. */
function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 1;
}
