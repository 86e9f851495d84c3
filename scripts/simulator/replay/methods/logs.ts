/** `eth_getLogs`, computed from the receipts. */

import { isObject } from '../../../../src/lib/text.ts';
import type { StoredBlock } from '../blocks/block.ts';
import { resolveNumber } from '../blocks/block-tag.ts';
import { parseLogFilter } from '../blocks/log-filter.ts';
import { blockNotFound, invalidParams } from '../rpc-error.ts';
import type { Methods, NodeState } from './method.ts';

export function logMethods(state: NodeState): Methods {
  const { reader } = state;
  return {
    eth_getLogs: ([param]) => {
      const request = isObject(param) ? param : {};
      const filter = parseLogFilter(request);
      const logs = requestedBlocks(state, request).flatMap((block) => reader.matchingLogs(block, filter));
      return Buffer.from(`[${logs.join(',')}]`);
    },
  };
}

/** The blocks of the range, or the one with the hash. An unknown hash yields none, as on Monad. */
function requestedBlocks(state: NodeState, request: Record<string, unknown>): StoredBlock[] {
  const { chain } = state;
  if (request.blockHash !== undefined) {
    const block = chain.byHash(String(request.blockHash));
    return block ? [block] : [];
  }
  const blocks: StoredBlock[] = [];
  const { from, to } = checkedRange(state, request);
  for (let number = from; number <= to; number++) {
    const block = chain.byNumber(number);
    if (block) blocks.push(block);
  }
  return blocks;
}

/** The requested range, truncated at the head as on Monad. Throws Monad's errors. */
function checkedRange({ chain, settings }: NodeState, request: Record<string, unknown>) {
  const { finalizedLag, maxLogRange } = settings;
  const from = resolveNumber(chain, finalizedLag, request.fromBlock);
  const to = Math.min(resolveNumber(chain, finalizedLag, request.toBlock), chain.head);
  if (from > chain.head) throw blockNotFound();
  if (from > to) throw invalidParams('invalid block range');
  if (to - from > maxLogRange) throw invalidParams('block range too large');
  return { from, to };
}
