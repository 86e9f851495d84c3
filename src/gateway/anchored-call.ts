/**
 * A call sent in one batch with header requests for its anchor blocks. The headers prove which blocks the answering
 * node has. Behind a load balancer two requests may reach nodes at different heights, and a lagging node may cut a
 * range of logs at its head without an error (Monad does).
 *
 * This assumes that one node answers the whole batch, in order or nearly at once, as with balancers that route HTTP
 * requests or connections. A balancer that routes each call of a batch must itself avoid nodes that lack the blocks;
 * its mistakes go unnoticed here.
 */
import { UpstreamError } from '../lib/errors.ts';
import { type BlockHeader, readBlockHeader } from '../node/methods.ts';
import type { Call } from './call.ts';
import { memberTexts, scanParts, skipSpace } from './json-scan.ts';
import { nodeRequest, resultTail } from './response-tail.ts';

/** Tags or quantities of the blocks whose headers are requested before and after the call. */
export interface AnchorBlocks {
  before: readonly string[];
  after: readonly string[];
}

export interface AnchoredTail {
  /** The tail of a result or an error; valid JSON. */
  tail: Buffer;
  /** The headers of the anchors, in order; null for a block that the node lacks. */
  headers: readonly (BlockHeader | null)[];
}

/** The id of the call itself, as in every single call. The anchors' ids follow. */
const CALL_ID = 1;
const HEADER_METHOD = 'eth_getBlockByNumber';

/** The body of the request. */
export function anchoredRequest({ method, params }: Call, { before, after }: AnchorBlocks): string {
  const headers = [...before, ...after].map((block, i) =>
    nodeRequest(HEADER_METHOD, `["${block}",false]`, CALL_ID + 1 + i),
  );
  headers.splice(before.length, 0, nodeRequest(method, params, CALL_ID));
  return `[${headers}]`;
}

/** Whether a body looks like the answer to a batch. A node that refuses batches answers with one object. */
export function isBatchAnswer(body: Buffer): boolean {
  return /^\s*\[/.test(body.toString('latin1', 0, 64));
}

/** The answer to the batch, null when the body is not a complete one. */
export function readAnchored(body: Buffer, { before, after }: AnchorBlocks): AnchoredTail | null {
  const items = readItems(body.toString('latin1'));
  const tail = tailOf(items?.get(CALL_ID));
  if (items === null || tail === null) return null;
  const headers = [...before, ...after].map((_, i) => readHeader(items.get(CALL_ID + 1 + i)?.get('result')));
  return { tail, headers };
}

/** The members of each answer, by id; null when the text is not a JSON array. */
function readItems(text: string): Map<number, Map<string, string>> | null {
  const start = skipSpace(text, 0);
  const items = new Map<number, Map<string, string>>();
  const collect = (from: number, to: number): boolean => {
    if (text[from] !== '{') return false;
    const members = memberTexts(text.slice(from, to));
    items.set(Number(members.get('id')?.replaceAll('"', '')), members); // some nodes answer an id as a text
    return true;
  };
  if (text[start] !== '[') return null;
  const end = scanParts(text, start, { name() {}, value: collect });
  return end < 0 || skipSpace(text, end) !== text.length ? null : items;
}

function tailOf(members: Map<string, string> | undefined): Buffer | null {
  const error = members?.get('error');
  if (error?.startsWith('{')) return Buffer.from(`"error":${error}}`, 'latin1');
  const result = members?.get('result');
  return result === undefined ? null : resultTail(result);
}

function readHeader(result: string | undefined): BlockHeader | null {
  if (result === undefined || result === 'null') return null;
  try {
    return readBlockHeader(JSON.parse(result), HEADER_METHOD);
  } catch (error) {
    if (error instanceof UpstreamError) return null; // proves nothing
    throw error;
  }
}
