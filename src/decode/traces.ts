/**
 * Internal native transfers from execution traces (facts: node-rpc.md section 3): CALL, CREATE, CREATE2 and
 * SELFDESTRUCT frames below the root that carry value, unless they or a frame above them failed. The value printed
 * on CALLCODE, DELEGATECALL and STATICCALL frames does not move.
 */
import { UpstreamError } from '../errors.ts';
import { isZero, type JsonObject, readAddress, readAmount, readArray, readObject } from './json.ts';

/** Takes one internal transfer: addresses as 40 digits, the amount as a `0x` quantity above zero. */
export type InternalSink = (from: string, to: string, amount: string) => void;

/** The traces of one block, one element per transaction in block order; null where the node gave none. */
export interface TransactionTraces {
  /** Whether the root call failed; decides for receipts from before Byzantium, which have no status. */
  failed(index: number): boolean;
  /** Feeds the internal transfers of a successful transaction in execution order. */
  internal(index: number, sink: InternalSink): void;
  /** Successful calls of `callee` (40 digits) in execution order: caller (40 digits) and input (`0x`). */
  callsOf(index: number, callee: string): { caller: string; input: string }[];
}

const MOVES_IN_TREE = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/** callTracer output of debug_traceBlockByNumber: `{txHash, result}` per transaction (older nodes leave txHash out). */
export function treeTraces(value: unknown, txHashes: readonly string[]): TransactionTraces {
  const items = readArray(value, 'debug_traceBlockByNumber result');
  if (items.length !== txHashes.length) {
    throw new UpstreamError(
      'inconsistent',
      `the node traced ${items.length} of ${txHashes.length} transactions of a block`,
    );
  }
  const roots = items.map((item, i) => {
    const { txHash, result, error } = readObject(item, 'transaction trace');
    if (txHash !== undefined && txHash !== txHashes[i]) {
      throw new UpstreamError(
        'inconsistent',
        `the trace of ${String(txHash)} came in the place of ${txHashes[i]}`,
      );
    }
    if (result === undefined || result === null) {
      throw new UpstreamError('rpc', `the node could not trace ${txHashes[i]}: ${String(error)}`);
    }
    return readObject(result, 'call frame');
  });
  return {
    failed: (index) => roots[index]!['error'] !== undefined,
    internal: (index, sink) => walkTree(roots[index]!, false, (frame) => moveOfFrame(frame, sink)),
    callsOf(index, callee) {
      const calls: { caller: string; input: string }[] = [];
      walkTree(roots[index]!, true, (frame) => {
        if (frame['type'] === 'CALL' && frame['to'] === `0x${callee}`) {
          calls.push({ caller: readAddress(frame['from'], 'frame from'), input: String(frame['input']) });
        }
      });
      return calls;
    },
  };
}

/**
 * Visits the frames that did not fail, parents first; a child of a failed frame carries no mark of its own, so whole
 * subtrees are cut. Without recursion: what a node sends may be nested deeper than the stack.
 */
function walkTree(root: JsonObject, withRoot: boolean, visit: (frame: JsonObject) => void): void {
  const ahead: unknown[] = [root];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const frame = readObject(next, 'call frame');
    if (frame['error'] !== undefined) continue;
    if (withRoot || frame !== root) visit(frame);
    const calls = frame['calls'];
    if (calls === undefined || calls === null) continue;
    const children = readArray(calls, 'frame calls');
    for (let i = children.length - 1; i >= 0; i--) ahead.push(children[i]);
  }
}

function moveOfFrame(frame: JsonObject, sink: InternalSink): void {
  if (!MOVES_IN_TREE.has(String(frame['type']))) return;
  const amount = readAmount(frame['value'], 'frame value');
  if (isZero(amount)) return;
  const from = readAddress(frame['from'], 'frame from');
  const to = readAddress(frame['to'], 'frame to');
  if (frame['type'] === 'SELFDESTRUCT' && from === to) return;
  sink(from, to, amount);
}

/** Parity-style output of trace_block: a flat list in execution order, tied together by `traceAddress`. */
export function flatTraces(
  value: unknown,
  txHashes: readonly string[],
  blockHash: string,
): TransactionTraces {
  const position = new Map(txHashes.map((hash, i) => [hash, i]));
  const perTransaction: JsonObject[][] = txHashes.map(() => []);
  for (const item of readArray(value, 'trace_block result')) {
    const trace = readObject(item, 'trace');
    if (trace['blockHash'] !== blockHash) {
      throw new UpstreamError(
        'inconsistent',
        `the node sent traces of block ${String(trace['blockHash'])} for ${blockHash}`,
      );
    }
    const hash = trace['transactionHash'];
    if (hash === undefined || hash === null) continue; // block rewards belong to no transaction
    const index = position.get(String(hash));
    if (index === undefined)
      throw new UpstreamError(
        'inconsistent',
        `the node traced ${String(hash)}, which is not in block ${blockHash}`,
      );
    perTransaction[index]!.push(trace);
  }
  const missing = perTransaction.findIndex((traces) => traces.length === 0);
  if (missing >= 0) throw new UpstreamError('inconsistent', `the node sent no trace of ${txHashes[missing]}`);
  return {
    failed: (index) => failedTrace(perTransaction[index]![0]!),
    internal: (index, sink) => flatMoves(perTransaction[index]!, sink),
    callsOf: () => [], // only Monad's staking needs calls, and Monad offers no trace_block
  };
}

function failedTrace(trace: JsonObject): boolean {
  return trace['error'] !== undefined && trace['error'] !== null;
}

/** Walks one transaction's flat traces in order; everything below a failed trace address is left out. */
function flatMoves(traces: readonly JsonObject[], sink: InternalSink): void {
  let failedAt: readonly unknown[] | null = null;
  for (const trace of traces) {
    const address = readArray(trace['traceAddress'], 'traceAddress');
    if (failedAt?.every((step, i) => address[i] === step)) continue;
    failedAt = failedTrace(trace) ? address : null;
    if (failedAt === null && address.length > 0) moveOfFlatTrace(trace, sink);
  }
}

function moveOfFlatTrace(trace: JsonObject, sink: InternalSink): void {
  const action = readObject(trace['action'], 'trace action');
  if (trace['type'] === 'suicide') {
    const from = readAddress(action['address'], 'suicide address');
    const to = readAddress(action['refundAddress'], 'suicide refundAddress');
    const amount = readAmount(action['balance'], 'suicide balance');
    if (from !== to && !isZero(amount)) sink(from, to, amount);
    return;
  }
  const isCreate = trace['type'] === 'create';
  if (!isCreate && !(trace['type'] === 'call' && action['callType'] === 'call')) return;
  const amount = readAmount(action['value'], 'trace value');
  if (isZero(amount)) return;
  const to = isCreate ? readObject(trace['result'], 'create result')['address'] : action['to'];
  sink(readAddress(action['from'], 'trace from'), readAddress(to, 'trace to'), amount);
}
