/** What the decoders read of a node's answers for one block. All else can be cut out before they are parsed. */
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
