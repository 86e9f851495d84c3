/** Loads blocks step by step, so that each step can be timed. The daemon overlaps the steps. */
import { BatchBuilder } from '../../../src/decode/batch.ts';
import { decodeBlock } from '../../../src/decode/block.ts';
import { BLOCK_FIELDS, RECEIPTS_FIELDS, TRACE_FIELDS } from '../../../src/decode/decoded-fields.ts';
import type { LoadRules } from '../../../src/indexer/backfill/load-blocks.ts';
import type { Projection } from '../../../src/lib/projection.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { RULES_VERSION } from '../../../src/model/index-rules.ts';
import { BufferedHttpClient } from '../../../src/node/http/buffered-client.ts';
import { blockCall, receiptsCall, traceCall } from '../../../src/node/methods.ts';
import { parseBody, type RpcCall, readSingle } from '../../../src/node/reply.ts';

/** How blocks of a generated chain are decoded. */
export const LOAD_RULES: LoadRules = {
  traces: 'debug_traceBlockByNumber',
  blockReceipts: true,
  monad: true,
  version: RULES_VERSION,
  wrappedNative: new Set(),
  nativeContracts: new Set(),
  unindexedErc20: new Set(),
};

export interface LoadedBlocks {
  batches: BlockBatch[];
  fetchMs: number;
  cutMs: number;
  decodeMs: number;
}

interface LoadOptions {
  url: string;
  from: number;
  to: number;
  /** Blocks of one batch. */
  blocksPerBatch: number;
}

/** The parts read of the three answers for a block. */
const WANTED = [BLOCK_FIELDS, RECEIPTS_FIELDS, TRACE_FIELDS.tree];

const LIMITS = { timeoutMs: 60_000, maxSockets: 3, maxWaiting: 16, maxResponseBytes: 256 * 2 ** 20 };

/** Loads `from..to`. Throws UpstreamError. */
export async function loadStepByStep({ url, from, to, blocksPerBatch }: LoadOptions): Promise<LoadedBlocks> {
  const http = new BufferedHttpClient({ url, ...LIMITS });
  const loaded: LoadedBlocks = { batches: [], fetchMs: 0, cutMs: 0, decodeMs: 0 };
  try {
    for (let first = from; first <= to; first += blocksPerBatch) {
      const last = Math.min(to, first + blocksPerBatch - 1);
      loaded.batches.push(await loadBatch(http, first, last, loaded));
    }
    return loaded;
  } finally {
    await http.close();
  }
}

async function loadBatch(
  http: BufferedHttpClient,
  first: number,
  last: number,
  times: LoadedBlocks,
): Promise<BlockBatch> {
  const out = new BatchBuilder();
  for (let number = first; number <= last; number++) {
    const calls = [
      blockCall(number),
      receiptsCall(number),
      traceCall(number, '', 'debug_traceBlockByNumber', LIMITS.timeoutMs),
    ];
    const startedAt = performance.now();
    const bodies = await Promise.all(calls.map((call) => post(http, call)));
    const fetchedAt = performance.now();
    const [block, receipts, value] = bodies.map((body, i) => resultOf(body, calls[i]!.method, WANTED[i]!));
    const cutAt = performance.now();
    decodeBlock(out, { block, receipts, traces: { form: 'tree', value } }, LOAD_RULES);
    times.fetchMs += fetchedAt - startedAt;
    times.cutMs += cutAt - fetchedAt;
    times.decodeMs += performance.now() - cutAt;
  }
  return out.finish(true);
}

async function post(http: BufferedHttpClient, { method, params }: RpcCall): Promise<Buffer> {
  const { body } = await http.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), method);
  return body;
}

/** The `wanted` parts of the answer to a call; overwrites the answer. Throws UpstreamError when the node refused it. */
export function resultOf(body: Buffer, method: string, wanted: Projection): unknown {
  const reply = readSingle(parseBody(body, method, wanted), method);
  if ('error' in reply) throw reply.error;
  return reply.result;
}
