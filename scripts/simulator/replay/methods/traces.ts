/** Methods that show the call trees. */

import { isObject } from '../../../../src/lib/text.ts';
import type { StoredBlock } from '../blocks/block.ts';
import { resolveNumber } from '../blocks/block-tag.ts';
import { blockNotFound, methodNotSupported } from '../rpc-error.ts';
import { jsonBytes, type RpcTrace } from '../rpc-json.ts';
import { type Methods, type NodeState, NULL_RESULT } from './method.ts';

export function traceMethods({ chain, reader, transactions, settings }: NodeState): Methods {
  const byNumber = (tag: unknown) => chain.byNumber(resolveNumber(chain, settings.finalizedLag, tag));
  const requireTraces = (config?: unknown) => {
    if (!settings.traces || !isCallTracer(config)) throw methodNotSupported();
  };
  const callTrees = (block: StoredBlock | null, config: unknown) => {
    requireTraces(config);
    if (!block) throw blockNotFound();
    return wantsOnlyTopCall(config)
      ? jsonBytes(reader.parsedTraces(block).map(withoutCalls))
      : reader.text(block, 'trace');
  };
  return {
    debug_traceBlockByNumber: ([tag, config]) => callTrees(byNumber(tag), config),
    debug_traceBlockByHash: ([hash, config]) => callTrees(chain.byHash(String(hash)), config),
    debug_traceTransaction: ([hash, config]) => {
      requireTraces(config);
      const location = transactions.find(hash);
      if (!location) return NULL_RESULT;
      return jsonBytes(reader.parsedTraces(location.block)[location.index]?.result ?? null);
    },
    trace_block: ([tag]) => {
      requireTraces();
      const block = byNumber(tag);
      if (!block) throw blockNotFound();
      return reader.flatTraces(block);
    },
  };
}

/** The call tracer is the default, as on Monad. */
export function isCallTracer(config: unknown): boolean {
  return !isObject(config) || config.tracer === undefined || config.tracer === 'callTracer';
}

function wantsOnlyTopCall(config: unknown): boolean {
  return isObject(config) && isObject(config.tracerConfig) && config.tracerConfig.onlyTopCall === true;
}

function withoutCalls(trace: RpcTrace): RpcTrace {
  return { ...trace, ...(trace.result && { result: { ...trace.result, calls: undefined } }) };
}
