/**
 * Internal native transfers from execution traces: CALL, CREATE, CREATE2 and SELFDESTRUCT frames below the root that
 * carry value, unless they or a frame above them failed. The value shown on CALLCODE, DELEGATECALL and STATICCALL
 * frames is not transferred.
 */
import { UpstreamError } from '../lib/errors.ts';
import { previewValue } from '../lib/text.ts';
import {
  isAddress,
  isZero,
  type JsonObject,
  readAddress,
  readAmount,
  readArray,
  readData,
  readItems,
  readObject,
} from './read-json.ts';

/** Receives one internal transfer: addresses as 40 lower-case digits, the amount as a `0x` quantity above zero. */
type InternalSink = (from: string, to: string, amount: string) => void;

/** The traces of one block. */
export interface BlockTraces {
  /** The trace of a transaction by its index in the block. Throws UpstreamError when it is another transaction's. */
  at(index: number): TransactionTrace;
}

export interface TransactionTrace {
  /** Whether the root call failed. Needed for receipts from before Byzantium, which have no status. */
  failed: boolean;
  /** Passes the internal transfers of a successful transaction to `sink`, in execution order. */
  forEachInternalTransfer(sink: InternalSink): void;
  /** Successful calls of `callee` (40 digits) in execution order: caller (40 digits) and input (`0x`); null if unknown. */
  callsOf(callee: string): { caller: string; input: string }[] | null;
}

const VALUE_FRAME_TYPES: ReadonlySet<unknown> = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/** callTracer output of debug_traceBlockByHash or debug_traceBlockByNumber: `{txHash, result}` per transaction; older nodes omit txHash. */
export function treeTraces(value: unknown, txHashes: readonly string[]): BlockTraces {
  const items = readItems(value, 'list of call trees');
  if (items.length !== txHashes.length) {
    throw new UpstreamError(
      'inconsistent',
      `the node traced ${items.length} of ${txHashes.length} transactions of a block`,
    );
  }
  return { at: (index) => treeTrace(items.at(index), txHashes[index]!) };
}

function treeTrace(item: unknown, expected: string): TransactionTrace {
  const { txHash, result, error } = readObject(item, 'transaction trace');
  if (txHash !== undefined && txHash !== expected) {
    throw new UpstreamError(
      'inconsistent',
      `the node sent the trace of ${previewValue(txHash)} instead of ${expected}`,
    );
  }
  if (result === undefined || result === null) {
    throw new UpstreamError(
      'rpc',
      `the node could not trace ${expected}: ${previewValue(error)}; if this persists, raise node.timeout_ms or use another node until the index is past that block`,
    );
  }
  const root = readObject(result, 'call frame');
  return {
    failed: hasFailed(root),
    forEachInternalTransfer: (sink) =>
      walkTree(root, false, (frame, parent) => emitFrameTransfer(frame, parent, sink)),
    callsOf(callee) {
      const calls: { caller: string; input: string }[] = [];
      walkTree(root, true, (frame) => {
        if (frame['type'] === 'CALL' && isAddress(frame['to'], callee)) {
          calls.push({
            caller: readAddress(frame['from'], 'frame from'),
            input: readData(frame['input'], 'frame input'),
          });
        }
      });
      return calls;
    },
  };
}

/**
 * Visits the frames that did not fail, parents first. Skips the whole subtree of a failed frame, because its children
 * are not marked as failed. Not recursive: an answer may be nested deeper than the stack allows.
 */
function walkTree(
  root: JsonObject,
  withRoot: boolean,
  visit: (frame: JsonObject, parent: JsonObject) => void,
): void {
  const stack: unknown[] = [root];
  const parents: JsonObject[] = [root];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const parent = parents.pop()!;
    const frame = readObject(next, 'call frame');
    if (hasFailed(frame)) continue;
    if (withRoot || frame !== root) visit(frame, parent);
    const calls = frame['calls'];
    if (calls === undefined || calls === null) continue;
    const children = readArray(calls, 'frame calls');
    for (let i = children.length - 1; i >= 0; i--) {
      stack.push(children[i]);
      parents.push(frame);
    }
  }
}

/** Frames that run another account's code in the context of the caller. */
const DELEGATE_CALL_TYPES: ReadonlySet<unknown> = new Set([
  'DELEGATECALL',
  'CALLCODE',
  'delegatecall',
  'callcode',
]);

function emitFrameTransfer(frame: JsonObject, parent: JsonObject, sink: InternalSink): void {
  if (!VALUE_FRAME_TYPES.has(frame['type'])) return;
  const amount = readAmount(frame['value'], 'frame value');
  if (isZero(amount)) return;
  const from = readAddress(frame['from'], 'frame from');
  const to = readAddress(frame['to'], 'frame to');
  if (frame['type'] === 'SELFDESTRUCT' && (from === to || frame['from'] !== selfDestructedAccount(parent)))
    return;
  sink(from, to, amount);
}

/**
 * The account that destroys itself. The SELFDESTRUCT frame does not always name it: when the account pays itself and
 * survives under EIP-6780, nodes based on revm repeat the addresses of the previous payment instead.
 */
function selfDestructedAccount(parent: JsonObject): unknown {
  return DELEGATE_CALL_TYPES.has(parent['type']) ? parent['from'] : parent['to'];
}

/** Parity-style output of trace_block: a flat list in execution order, linked by `traceAddress`. */
export function flatTraces(value: unknown, txHashes: readonly string[], blockHash: string): BlockTraces {
  const position: ReadonlyMap<unknown, number> = new Map(txHashes.map((hash, i) => [hash, i]));
  const perTransaction: JsonObject[][] = txHashes.map(() => []);
  const items = readItems(value, 'trace_block result');
  for (let i = 0; i < items.length; i++) {
    const trace = readObject(items.at(i), 'trace');
    if (trace['blockHash'] !== blockHash) {
      throw new UpstreamError(
        'inconsistent',
        `the node sent traces of block ${previewValue(trace['blockHash'])} for ${blockHash}`,
      );
    }
    const hash = trace['transactionHash'];
    if (hash === undefined || hash === null) continue; // a block reward
    const index = position.get(hash);
    if (index === undefined)
      throw new UpstreamError(
        'inconsistent',
        `the node traced ${previewValue(hash)}, which is not in block ${blockHash}`,
      );
    perTransaction[index]!.push(trace);
  }
  const missing = perTransaction.findIndex((traces) => traces.length === 0);
  if (missing >= 0) throw new UpstreamError('inconsistent', `the node sent no trace of ${txHashes[missing]}`);
  return {
    at(index) {
      const traces = perTransaction[index]!;
      return {
        failed: hasFailed(traces[0]!),
        forEachInternalTransfer: (sink) => emitFlatTransfers(traces, sink),
        callsOf: () => null, // only Monad's staking needs calls, and Monad nodes have no trace_block
      };
    },
  };
}

/** Whether a frame or a flat trace failed. Nodes omit a field that does not apply, or send null. */
function hasFailed({ error }: JsonObject): boolean {
  return error !== undefined && error !== null;
}

/** Walks one transaction's flat traces in order and skips everything below a failed trace address. */
function emitFlatTransfers(traces: readonly JsonObject[], sink: InternalSink): void {
  let failedAt: readonly unknown[] | null = null;
  /** The last trace at each depth: the parent of the following traces one level deeper. */
  const path: JsonObject[] = [];
  for (const trace of traces) {
    const address = readArray(trace['traceAddress'], 'traceAddress');
    if (failedAt?.every((step, i) => address[i] === step)) continue;
    failedAt = hasFailed(trace) ? address : null;
    path[address.length] = trace;
    if (failedAt === null && address.length > 0) emitFlatTransfer(trace, path[address.length - 1], sink);
  }
}

function emitFlatTransfer(trace: JsonObject, parent: JsonObject | undefined, sink: InternalSink): void {
  const action = readObject(trace['action'], 'trace action');
  if (trace['type'] === 'suicide') {
    const from = readAddress(action['address'], 'suicide address');
    const to = readAddress(action['refundAddress'], 'suicide refundAddress');
    const amount = readAmount(action['balance'], 'suicide balance');
    const movesNothing = from === to || action['address'] !== flatSelfDestructedAccount(parent);
    if (!movesNothing && !isZero(amount)) sink(from, to, amount);
    return;
  }
  const isCreate = trace['type'] === 'create';
  if (!isCreate && !(trace['type'] === 'call' && action['callType'] === 'call')) return;
  const amount = readAmount(action['value'], 'trace value');
  if (isZero(amount)) return;
  const to = isCreate ? readObject(trace['result'], 'create result')['address'] : action['to'];
  sink(readAddress(action['from'], 'trace from'), readAddress(to, 'trace to'), amount);
}

/** `selfDestructedAccount` for flat traces. */
function flatSelfDestructedAccount(parent: JsonObject | undefined): unknown {
  if (parent === undefined) return undefined;
  const action = readObject(parent['action'], 'trace action');
  if (parent['type'] === 'create') return readObject(parent['result'], 'create result')['address'];
  return DELEGATE_CALL_TYPES.has(action['callType']) ? action['from'] : action['to'];
}
