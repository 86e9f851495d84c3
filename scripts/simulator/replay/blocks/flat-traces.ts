/** Parity-style flat traces from geth-style call trees, for `trace_block`. */
import type { RpcFrame, RpcTrace, RpcTransaction } from '../rpc-json.ts';

const CALL_TYPES: Record<string, string> = {
  CALL: 'call',
  CALLCODE: 'callcode',
  DELEGATECALL: 'delegatecall',
  STATICCALL: 'staticcall',
};

interface TraceLocation {
  blockHash: string;
  blockNumber: number;
  transactionHash: string | undefined;
  transactionPosition: number;
}

/** Result of `trace_block`, without rewards. */
export function flatTraces(
  block: { hash: string; number: number },
  transactions: readonly RpcTransaction[],
  traces: readonly RpcTrace[],
): object[] {
  return traces.flatMap(({ txHash, result }, position) => {
    if (!result) return [];
    const location = {
      blockHash: block.hash,
      blockNumber: block.number,
      transactionHash: txHash ?? transactions[position]?.hash,
      transactionPosition: position,
    };
    return flatten(result, location, []);
  });
}

/** The frame, then its children in order. */
function flatten(frame: RpcFrame, location: TraceLocation, traceAddress: number[]): object[] {
  const children = frame.calls ?? [];
  const flat = { ...location, traceAddress, subtraces: children.length, ...describe(frame) };
  return [flat, ...children.flatMap((child, i) => flatten(child, location, [...traceAddress, i]))];
}

function describe(frame: RpcFrame): object {
  const { result, ...call } = asSucceeded(frame);
  if (!frame.error) return { ...call, result };
  const error = frame.error === 'execution reverted' ? 'Reverted' : frame.error;
  return { ...call, error, result: null };
}

function asSucceeded(frame: RpcFrame): { type: string; action: object; result: object | null } {
  const { from, to, gas, gasUsed, input } = frame;
  const value = frame.value ?? '0x0';
  const output = frame.output ?? '0x';
  const callType = CALL_TYPES[frame.type];
  if (callType) {
    return {
      type: 'call',
      action: { callType, from, to, gas, input, value },
      result: { gasUsed, output },
    };
  }
  if (frame.type.startsWith('CREATE')) {
    return {
      type: 'create',
      action: { from, gas, init: input, value },
      result: { address: to, code: output, gasUsed },
    };
  }
  return { type: 'suicide', action: { address: from, refundAddress: to, balance: value }, result: null };
}
