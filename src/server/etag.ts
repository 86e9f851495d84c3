/** Entity tags of REST answers: which block they are of, and which URL. */

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The tag of the answer to a URL as of a block. Weak, because compression may change the bytes but not the meaning. */
export function entityTag(head: { number: number; tag: string }, path: string, query: string): string {
  return `W/"${head.number}-${head.tag}-${fnv1a(query, fnv1a(path, FNV_OFFSET)).toString(36)}"`;
}

/** Whether an If-None-Match header names the tag. */
export function matchesTag(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch !== '' && (ifNoneMatch === '*' || ifNoneMatch.includes(tag.slice(2)));
}

function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 0;
}
