/** Entity tags of REST answers, made from the state of the index and the request. */
import { randomInt } from 'node:crypto';
import type { ApiResult } from '../api/reader-protocol.ts';

/** Distinguishes this process from others: each counts revisions from the start. */
const PROCESS = randomInt(2 ** 31).toString(36);

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * For a path, a function that gives an answer's tag from the state of the index, the query and whatever else the answer
 * depends on. Weak, because compression may change the bytes but not the meaning.
 */
export function etagBuilder(
  path: string,
): (head: Pick<ApiResult['head'], 'number' | 'hashPrefix' | 'revision'>, query: string) => string {
  const seed = fnv1a(path, FNV_OFFSET);
  return (head, query) =>
    `W/"${head.number}-${head.hashPrefix}-${PROCESS}${head.revision}-${fnv1a(query, seed)}"`;
}

/** Whether an If-None-Match header is matched by any answer that would be a success (RFC 9110, section 13.1.2). */
export function matchesAnyEtag(ifNoneMatch: string): boolean {
  return ifNoneMatch === '*';
}

/** Whether an If-None-Match header names the tag. Only successful answers have tags: nothing else needs a check. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch !== '' && ifNoneMatch.includes(etag.slice(2));
}

/** 31 bits of it: small integers become text ten times as fast as others. */
function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 1;
}
