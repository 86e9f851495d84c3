/** The members of a node's answers that the decoders read. All others are cut out before parsing. */
import { Each, Members } from '../lib/members.ts';

const whole = 'whole';

const TRANSACTION = new Members({ hash: whole, from: whole, to: whole, value: whole, input: whole });

export const BLOCK = new Members({
  number: whole,
  hash: whole,
  parentHash: whole,
  timestamp: whole,
  transactions: new Each(TRANSACTION),
});

const LOG = new Members({ address: whole, topics: whole, data: whole, logIndex: whole });

const RECEIPT = new Members({
  status: whole,
  blockHash: whole,
  transactionHash: whole,
  gasUsed: whole,
  contractAddress: whole,
  logs: LOG,
});

export const RECEIPTS = new Each(RECEIPT);

const FRAME = new Members({ type: whole, from: whole, to: whole, value: whole, input: whole, error: whole });
FRAME.add('calls', FRAME);

/** Of debug_traceBlockByHash or debug_traceBlockByNumber with the callTracer. */
const TREE_TRACES = new Each(new Members({ txHash: whole, result: FRAME, error: whole }));

/** Of trace_block. */
const FLAT_TRACES = new Each(
  new Members({
    type: whole,
    action: new Members({
      callType: whole,
      from: whole,
      to: whole,
      value: whole,
      address: whole,
      refundAddress: whole,
      balance: whole,
    }),
    result: new Members({ address: whole }),
    error: whole,
    traceAddress: whole,
    blockHash: whole,
    transactionHash: whole,
  }),
);

/** By the form of the traces. */
export const TRACES = { tree: TREE_TRACES, flat: FLAT_TRACES };
