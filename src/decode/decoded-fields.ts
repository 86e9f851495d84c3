/** The members of a node's answers that the decoders read. Parsing skips all others. */
import { LazyItems, ObjectProjection } from '../lib/json-projection.ts';

const whole = 'whole';

const TRANSACTION = new ObjectProjection({
  hash: whole,
  from: whole,
  to: whole,
  value: whole,
  input: whole,
  type: whole,
  mint: whole,
});

export const BLOCK_FIELDS = new ObjectProjection({
  number: whole,
  hash: whole,
  parentHash: whole,
  timestamp: whole,
  gasUsed: whole,
  receiptsRoot: whole,
  blockAccessListHash: whole,
  slotNumber: whole,
  transactions: new LazyItems(TRANSACTION),
});

const LOG = new ObjectProjection({ address: whole, topics: whole, data: whole, logIndex: whole });

const RECEIPT = new ObjectProjection({
  status: whole,
  blockHash: whole,
  transactionHash: whole,
  gasUsed: whole,
  contractAddress: whole,
  logs: LOG,
});

export const RECEIPTS_FIELDS = new LazyItems(RECEIPT);

const FRAME_MEMBERS = {
  type: whole,
  from: whole,
  to: whole,
  value: whole,
  input: whole,
  error: whole,
  revertReason: whole,
} as const;
const FRAME = new ObjectProjection(FRAME_MEMBERS);
FRAME.add('calls', FRAME);

/** Moonbeam sends the root frames themselves. */
const TREE_ITEM = new ObjectProjection({ txHash: whole, result: FRAME, ...FRAME_MEMBERS });
TREE_ITEM.add('calls', FRAME);

/** debug_traceBlockByHash or debug_traceBlockByNumber with the callTracer. */
const TREE_TRACES = new LazyItems(TREE_ITEM);

/** trace_block. */
const FLAT_TRACES = new LazyItems(
  new ObjectProjection({
    type: whole,
    action: new ObjectProjection({
      callType: whole,
      from: whole,
      to: whole,
      value: whole,
      address: whole,
      refundAddress: whole,
      balance: whole,
    }),
    result: new ObjectProjection({ address: whole }),
    error: whole,
    revertReason: whole,
    traceAddress: whole,
    blockHash: whole,
    transactionHash: whole,
  }),
);

/** Keyed by the form of the traces. */
export const TRACE_FIELDS = { tree: TREE_TRACES, flat: FLAT_TRACES };
