/**
 * Internal native transfers from execution traces: CALL, CREATE, CREATE2 and SELFDESTRUCT frames below the root that
 * carry value, unless they or a frame above them failed. The value shown on CALLCODE, DELEGATECALL and STATICCALL
 * frames is not transferred.
 */
import { UpstreamError } from '../lib/errors.ts';
import { isSameHex } from '../lib/hex.ts';
import { isObject, previewValue } from '../lib/text.ts';
import type { SkipReason } from '../model/block-batch.ts';
import {
  type Items,
  isAddress,
  isList,
  isNone,
  isZero,
  type JsonObject,
  readAddress,
  readAmount,
  readArray,
  readData,
  readItems,
  readObject,
} from './read-json.ts';
import { repeatedHashes } from './repeated-hashes.ts';

/** Receives one internal transfer: addresses as 40 lower-case digits, the amount as a `0x` quantity above zero. */
type InternalSink = (from: string, to: string, amount: string) => void;

/** Learns of a payment that cannot be read. */
type UnreadSink = (reason: SkipReason) => void;

/** The traces of one block. */
export interface BlockTraces {
  /**
   * The trace of a transaction by its index in the block, null if unknown. Throws UpstreamError when it is another
   * one's.
   */
  at(index: number): TransactionTrace | null;
}

/** Traces of every transaction. */
interface CompleteTraces extends BlockTraces {
  at(index: number): TransactionTrace;
}

/** The answer lacks traces of some transactions, or belongs to others: ask for the transactions one by one. */
export class IncompleteTraces extends UpstreamError {
  override name = 'IncompleteTraces';
}

/** The members of a root frame that repeat the transaction, as the node sent them, and whether the call failed. */
export interface RootFrame {
  from: unknown;
  to: unknown;
  value: unknown;
  failed: boolean;
}

export interface TransactionTrace {
  /** Receipts from before Byzantium have no status: their root frame decides. */
  root: RootFrame;
  /** Passes the internal transfers of a successful transaction to `sink`, in execution order. */
  forEachInternalTransfer(sink: InternalSink, onUnread: UnreadSink): void;
  /**
   * Successful calls of `callee` (40 digits) in execution order: caller (40 digits) and input (`0x`); null if unknown.
   */
  callsOf(callee: string): { caller: string; input: string }[] | null;
}

/** `delegate` runs another account's code in the context of the caller; neither it nor `static` moves its value. */
type FrameKind = 'call' | 'create' | 'destroy' | 'delegate' | 'static';

const FRAME_KINDS: ReadonlyMap<unknown, FrameKind> = new Map<unknown, FrameKind>([
  ['CALL', 'call'],
  ['CREATE', 'create'],
  ['CREATE2', 'create'],
  ['SELFDESTRUCT', 'destroy'],
  ['SUICIDE', 'destroy'],
  ['CALLCODE', 'delegate'],
  ['DELEGATECALL', 'delegate'],
  ['STATICCALL', 'static'],
]);

/** The kind of a frame by its type in any case (zkSync sends `Call`, trace_block `call`); undefined if unknown. */
function frameKind(type: unknown): FrameKind | undefined {
  return (
    FRAME_KINDS.get(type) ?? (typeof type === 'string' ? FRAME_KINDS.get(type.toUpperCase()) : undefined)
  );
}

/**
 * callTracer output of debug_traceBlockByHash or debug_traceBlockByNumber: `{txHash, result}` per transaction. Older
 * nodes omit txHash, Ronin calls it transactionHash, and Moonbeam sends the root frames themselves. `extraHashes`:
 * those of receipts without a transaction, whose traces are left out.
 */
export function treeTraces(
  value: unknown,
  txHashes: readonly string[],
  extraHashes: readonly string[] = [],
): CompleteTraces {
  const items = isList(value) ? readItems(value, 'list of call trees') : [];
  if (items.length === txHashes.length)
    return { at: (index) => treeTrace(items.at(index), txHashes[index]!) };
  const own = Array.from({ length: items.length }, (_, i) => i).filter(
    (i) => !extraHashes.some((hash) => isSameHex(tracedHash(objectIn(items, i)), hash)),
  );
  if (own.length === txHashes.length)
    return { at: (index) => treeTrace(items.at(own[index]!), txHashes[index]!) };
  throw new IncompleteTraces(
    'inconsistent',
    `the node traced ${items.length} of ${txHashes.length} transactions of a block`,
  );
}

/** The hash of the transaction in an item of a block's traces. */
export function tracedHash({ txHash, transactionHash }: JsonObject): unknown {
  return txHash ?? transactionHash;
}

/** An item of a block's traces. Throws IncompleteTraces when it has no call frames, or those of another transaction. */
export function treeTrace(item: unknown, expected: string): TransactionTrace {
  const trace = isObject(item) ? item : {};
  const { error } = trace;
  const txHash = tracedHash(trace);
  if (!isNone(txHash) && !isSameHex(txHash, expected)) {
    throw new IncompleteTraces(
      'inconsistent',
      `the node sent the trace of ${previewValue(txHash)} instead of ${expected}`,
    );
  }
  const root = rootFrame(trace);
  if (root === null)
    throw new IncompleteTraces('rpc', `the node could not trace ${expected}: ${previewValue(error)}`);
  const { from, to, value } = root;
  return {
    root: { from, to, value, failed: hasFailed(root) },
    forEachInternalTransfer: (sink, onUnread) =>
      walkTree(root, false, (frame, parent) => emitFrameTransfer(frame, parent, sink, onUnread)),
    callsOf(callee) {
      const calls: { caller: string; input: string }[] = [];
      walkTree(root, true, (frame) => {
        if (frameKind(frame['type']) !== 'call' || !isAddress(frame['to'], callee)) return;
        calls.push({
          caller: readAddress(frame['from'], 'frame from'),
          input: readData(frame['input'], 'frame input').toLowerCase(),
        });
      });
      return calls;
    },
  };
}

/** An item of a block's traces; empty if it is no object. */
export function objectIn(items: Items, position: number): JsonObject {
  const item = items.at(position);
  return isObject(item) ? item : {};
}

/** The root frame in an item of a block's traces; null if there is none, but perhaps an error or the opcodes. */
export function rootFrame(item: JsonObject): JsonObject | null {
  const result = item['result'] ?? null;
  if (result === null)
    return frameKind(item['type']) !== undefined && typeof item['from'] === 'string' ? item : null;
  return isObject(result) && isFrame(result) ? result : null;
}

/**
 * Whether an answer is a call frame. Nodes that do not know the tracer answer with opcodes. Bor's state sync has no
 * `from`.
 */
export function isFrame({ type }: JsonObject): boolean {
  return typeof type === 'string';
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
    if (isNone(calls)) continue;
    const children = readArray(calls, 'frame calls');
    for (let i = children.length - 1; i >= 0; i--) {
      stack.push(children[i]);
      parents.push(frame);
    }
  }
}

function emitFrameTransfer(
  frame: JsonObject,
  parent: JsonObject,
  sink: InternalSink,
  onUnread: UnreadSink,
): void {
  const kind = frameKind(frame['type']);
  if (kind === 'delegate' || kind === 'static') return;
  const { from, to, value } = frame;
  if (kind === 'destroy')
    return emitSelfDestruct({ from, to, value }, selfDestructedAccount(parent), sink, onUnread);
  const amount = readAmount(value, 'frame value');
  if (isZero(amount)) return;
  if (kind === undefined) return onUnread('frame_type');
  sink(readAddress(from, 'frame from'), readAddress(to, 'frame to'), amount);
}

/**
 * Old nodes name neither account nor balance. `destroyed` is the account that destroys itself; another `from` means
 * that nothing moved.
 */
function emitSelfDestruct(
  { from, to, value }: { from: unknown; to: unknown; value: unknown },
  destroyed: unknown,
  sink: InternalSink,
  onUnread: UnreadSink,
): void {
  if (value === undefined || value === null || value === '') return onUnread('selfdestruct_shape');
  const amount = readAmount(value, 'selfdestruct value');
  if (isZero(amount)) return;
  if (isNone(from) || isNone(to)) return onUnread('selfdestruct_shape');
  const payer = readAddress(from, 'selfdestruct from');
  const payee = readAddress(to, 'selfdestruct to');
  if (payer !== payee && isAddress(destroyed, payer)) sink(payer, payee, amount);
}

/**
 * The account that destroys itself. The SELFDESTRUCT frame does not always name it: when the account pays itself and
 * survives under EIP-6780, nodes based on revm repeat the addresses of the previous payment instead.
 */
function selfDestructedAccount(parent: JsonObject): unknown {
  return frameKind(parent['type']) === 'delegate' ? parent['from'] : parent['to'];
}

/** Parity-style output of trace_block: a flat list in execution order, linked by `traceAddress`. */
export function flatTraces(
  value: unknown,
  txHashes: readonly string[],
  blockHash: string,
  extraHashes: readonly string[] = [],
): CompleteTraces {
  const perTransaction = flatLists(value, txHashes, blockHash, extraHashes);
  const missing = perTransaction.findIndex((traces) => traces.length === 0);
  if (missing >= 0)
    throw new IncompleteTraces('inconsistent', `the node sent no trace of ${txHashes[missing]}`);
  return { at: (index) => flatTrace(perTransaction[index]!) };
}

/** The traces of each transaction, in their order. */
export function flatLists(
  value: unknown,
  txHashes: readonly string[],
  blockHash: string,
  extraHashes: readonly string[],
): JsonObject[][] {
  const position: ReadonlyMap<unknown, number> = new Map(txHashes.map((hash, i) => [hash, i]));
  const perTransaction: JsonObject[][] = txHashes.map(() => []);
  const repeats = repeatedHashes(txHashes);
  const rootsSeen = new Map<string, number>();
  /** The place of the transaction of a trace. Where several have its hash, each root trace begins the next one. */
  const placeOf = (trace: JsonObject, found: number): number => {
    const hash = txHashes[found]!;
    const places = repeats?.get(hash);
    if (places === undefined) return found;
    const isRoot = readArray(trace['traceAddress'], 'traceAddress').length === 0;
    const roots = (rootsSeen.get(hash) ?? 0) + Number(isRoot);
    rootsSeen.set(hash, roots);
    return places[roots - 1] ?? found;
  };
  const items = readItems(value, 'trace_block result');
  const isNamed = nameTheirBlock(value);
  for (let i = 0; i < items.length; i++) {
    const trace = readObject(items.at(i), 'trace');
    if (isNamed && !isSameHex(trace['blockHash'], blockHash)) {
      throw new UpstreamError(
        'inconsistent',
        `the node sent traces of block ${previewValue(trace['blockHash'])} for ${blockHash}`,
      );
    }
    const hash = trace['transactionHash'];
    if (hash === undefined || hash === null || isReward(trace)) continue;
    const index =
      position.get(hash) ?? (typeof hash === 'string' ? position.get(hash.toLowerCase()) : undefined);
    if (index === undefined && extraHashes.some((extra) => isSameHex(hash, extra))) continue;
    if (index === undefined)
      throw new UpstreamError(
        'inconsistent',
        `the node traced ${previewValue(hash)}, which is not in block ${blockHash}`,
      );
    perTransaction[placeOf(trace, index)]!.push(trace);
  }
  return perTransaction;
}

/**
 * Whether traces name their block. Call trees do not, nor do some nodes in flat traces. Then whoever asked for them by
 * number makes sure that the node still has the block.
 */
export function nameTheirBlock(value: unknown): boolean {
  const items = isList(value) ? readItems(value, 'traces') : [];
  return items.length === 0 || !isNone(objectIn(items, 0)['blockHash']);
}

/** A block reward is no transaction's, although Nethermind gave it the hash of one. */
function isReward({ type, action }: JsonObject): boolean {
  return type === 'reward' || (isObject(action) && action.callType === 'reward');
}

/** The flat traces of one transaction, at least one. */
export function flatTrace(traces: readonly JsonObject[]): TransactionTrace {
  return {
    root: flatRoot(traces[0]!),
    forEachInternalTransfer: (sink, onUnread) => emitFlatTransfers(traces, sink, onUnread),
    callsOf: () => null, // only Monad's staking needs calls, and Monad nodes have no trace_block
  };
}

function flatRoot(trace: JsonObject): RootFrame {
  const { from, to, value } = readObject(trace['action'], 'trace action');
  const { result } = trace;
  return {
    from,
    to: to ?? (isObject(result) ? result['address'] : undefined),
    value,
    failed: hasFailed(trace),
  };
}

/**
 * Whether a frame or a flat trace failed. Nodes omit a member that does not apply, or send it as null or empty. A
 * reverted frame of zkSync has only a `revertReason`.
 */
function hasFailed({ error, revertReason }: JsonObject): boolean {
  return !isEmptyError(error) || !isNone(revertReason);
}

function isEmptyError(error: unknown): boolean {
  return error === undefined || error === null || error === '' || error === false;
}

/** Walks one transaction's flat traces in order and skips everything below a failed trace address. */
function emitFlatTransfers(traces: readonly JsonObject[], sink: InternalSink, onUnread: UnreadSink): void {
  let failedAt: readonly unknown[] | null = null;
  /** The last trace at each depth: the parent of the following traces one level deeper. */
  const path: JsonObject[] = [];
  for (const trace of traces) {
    const address = readArray(trace['traceAddress'], 'traceAddress');
    if (failedAt?.every((step, i) => address[i] === step)) continue;
    failedAt = hasFailed(trace) ? address : null;
    path[address.length] = trace;
    if (failedAt === null && address.length > 0)
      emitFlatTransfer(trace, path[address.length - 1], sink, onUnread);
  }
}

/** The kind of a flat trace: `callType` tells calls apart. */
function flatKind(type: unknown, action: JsonObject): FrameKind | undefined {
  const kind = frameKind(type);
  return kind === 'call' ? frameKind(action['callType']) : kind;
}

function emitFlatTransfer(
  trace: JsonObject,
  parent: JsonObject | undefined,
  sink: InternalSink,
  onUnread: UnreadSink,
): void {
  const action = readObject(trace['action'], 'trace action');
  const kind = flatKind(trace['type'], action);
  if (kind === 'delegate' || kind === 'static') return;
  const { address: from, refundAddress: to, balance: value } = action;
  if (kind === 'destroy')
    return emitSelfDestruct({ from, to, value }, flatSelfDestructedAccount(parent), sink, onUnread);
  const amount = readAmount(action['value'], 'trace value');
  if (isZero(amount)) return;
  if (kind === undefined) return onUnread('frame_type');
  const payee = kind === 'create' ? readObject(trace['result'], 'create result')['address'] : action['to'];
  sink(readAddress(action['from'], 'trace from'), readAddress(payee, 'trace to'), amount);
}

/** `selfDestructedAccount` for flat traces. */
function flatSelfDestructedAccount(parent: JsonObject | undefined): unknown {
  if (parent === undefined) return undefined;
  const action = readObject(parent['action'], 'trace action');
  const kind = flatKind(parent['type'], action);
  if (kind === 'create') return readObject(parent['result'], 'create result')['address'];
  return kind === 'delegate' ? action['from'] : action['to'];
}
