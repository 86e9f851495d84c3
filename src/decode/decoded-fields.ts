/** The members of a node's answers that the decoders read. Parsing skips all others. */
import { Echo, LazyItems, ObjectProjection } from '../lib/projection.ts';

const whole = 'whole';

const TRANSACTION = new ObjectProjection({
  hash: whole,
  from: whole,
  to: whole,
  value: whole,
  input: whole,
  type: 'unlessLow',
  mint: whole,
});

export const BLOCK_FIELDS = new ObjectProjection({
  number: whole,
  hash: whole,
  parentHash: whole,
  timestamp: whole,
  gasUsed: whole,
  receiptsRoot: whole,
  logsBloom: whole,
  blockAccessListHash: whole,
  slotNumber: whole,
  transactions: new LazyItems(TRANSACTION),
});

/** Slots of the texts that each log of a receipt repeats. */
const [BLOCK_HASH, TX_HASH] = [0, 1];

const LOG = new ObjectProjection({
  address: whole,
  topics: whole,
  data: whole,
  logIndex: whole,
  blockHash: new Echo(BLOCK_HASH, false),
  transactionHash: new Echo(TX_HASH, false),
  removed: 'unlessTrue',
});

const RECEIPT = new ObjectProjection({
  status: whole,
  blockHash: new Echo(BLOCK_HASH, true),
  transactionHash: new Echo(TX_HASH, true),
  gasUsed: whole,
  contractAddress: whole,
  logsBloom: 'bits',
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

/** Moonbeam sends the root frames themselves, Ronin `transactionHash` for `txHash`. */
const TREE_ITEM = new ObjectProjection({
  txHash: whole,
  transactionHash: whole,
  result: FRAME,
  ...FRAME_MEMBERS,
});
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
