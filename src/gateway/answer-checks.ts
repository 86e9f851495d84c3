/**
 * Whether an answer that would be cached for good is complete by its own members: nodes, balancers and caches lose
 * logs, or mix in those of another block. An answer that is not is passed on, and asked for again the next time.
 */
import { spelledNumber } from '../lib/hex.ts';
import { parseProjected } from '../lib/json-projection.ts';
import { ObjectProjection, type Projection } from '../lib/projection.ts';
import { isObject } from '../lib/text.ts';

type Members = Record<string, unknown>;

/** Longest answer to check, and so to cache, of these methods, bytes: a megabyte takes some 2 ms. */
const MAX_BYTES = 2 * 2 ** 20;

const whole = 'whole';
const PLACE = { blockHash: whole, blockNumber: whole } as const;
const LOG = new ObjectProjection({ ...PLACE, transactionHash: whole, logIndex: whole, removed: whole });
const RECEIPT = new ObjectProjection({ ...PLACE, transactionHash: whole, logsBloom: whole, logs: LOG });
const BLOCK = new ObjectProjection({
  hash: whole,
  number: whole,
  transactions: new ObjectProjection({ ...PLACE, transactionIndex: whole }),
});

interface AnswerCheck {
  projection: Projection;
  isComplete(result: unknown, block: number): boolean;
}

const BLOCK_CHECK: AnswerCheck = { projection: BLOCK, isComplete: isBlock };
const CHECKS: Readonly<Record<string, AnswerCheck>> = {
  eth_getBlockByNumber: BLOCK_CHECK,
  eth_getBlockByHash: BLOCK_CHECK,
  eth_getBlockReceipts: { projection: RECEIPT, isComplete: areReceipts },
  eth_getTransactionReceipt: { projection: RECEIPT, isComplete: (result) => isReceipt(result) },
  eth_getLogs: { projection: LOG, isComplete: areLogs },
};

/** `block`: number of the block that the answer depends on. `tail`: a response tail with a result. */
export function mayCache(method: string, block: number, tail: Buffer): boolean {
  const check = Object.hasOwn(CHECKS, method) ? CHECKS[method] : undefined;
  if (check === undefined) return true;
  if (tail.length > MAX_BYTES) return false;
  const text = Buffer.concat([Buffer.from('{'), tail]); // a copy, because parsing overwrites it
  try {
    const answer = parseProjected(text, new ObjectProjection({ result: check.projection }));
    return isObject(answer) && check.isComplete(answer['result'], block);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function isBlock(result: unknown, block: number): boolean {
  if (!isObject(result) || !isNumber(result['number'], block)) return false;
  const { hash, transactions } = result;
  return (
    !Array.isArray(transactions) ||
    transactions.every(
      (each: unknown, i) =>
        typeof each === 'string' ||
        (isObject(each) && isIn(each, hash, block) && isNumber(each['transactionIndex'], i)),
    )
  );
}

/** An empty list is cheap to ask for again, and a block that has transactions may lack them all. */
function areReceipts(result: unknown, block: number): boolean {
  if (!Array.isArray(result)) return true;
  if (result.length === 0) return false;
  const receipts = result.filter((each: unknown) => isReceipt(each));
  if (receipts.length < result.length) return false;
  const [first] = receipts as [Members];
  return receipts.every((each) => isIn(each, first['blockHash'], block)) && areNumbered(receipts.map(logsOf));
}

function isReceipt(receipt: unknown): receipt is Members {
  if (!isObject(receipt)) return false;
  const { blockHash, blockNumber, transactionHash, logs, logsBloom } = receipt;
  if (!Array.isArray(logs)) return true;
  if (logs.length === 0) return !(typeof logsBloom === 'string' && /[1-9a-e]/i.test(logsBloom.slice(2)));
  const block = spelledNumber(blockNumber);
  const isOwn = (log: unknown) =>
    isObject(log) && isIn(log, blockHash, block) && isSame(log['transactionHash'], transactionHash);
  return logs.every(isOwn) && areRising(logsOf(receipt));
}

/** Logs of a filter: others lie between them. */
function areLogs(result: unknown, last: number): boolean {
  if (!Array.isArray(result)) return true;
  let before = -1;
  return result.every((log: unknown) => {
    if (!isObject(log) || log['removed'] === true) return false;
    const number = spelledNumber(log['blockNumber']);
    const isNext = number >= before && number <= last;
    before = number;
    return isNext;
  });
}

function logsOf({ logs }: Members): number[] {
  return Array.isArray(logs)
    ? logs.map((log: unknown) => (isObject(log) ? spelledNumber(log['logIndex']) : Number.NaN))
    : [];
}

/** Numbers within a receipt rise by one, or repeat on chains that do not number logs. */
function areRising(numbers: readonly number[]): boolean {
  return numbers.every(
    (number, i) => i === 0 || number === numbers[i - 1]! + 1 || number === numbers[i - 1]!,
  );
}

/** Over a block numbers rise by one from 0, unless they restart: then each receipt has its own. */
function areNumbered(perReceipt: readonly (readonly number[])[]): boolean {
  const used = perReceipt.filter((numbers) => numbers.length > 0);
  const restarts = used.some((numbers, i) => i > 0 && numbers[0]! <= used[i - 1]!.at(-1)!);
  return restarts || used.every((numbers, i) => numbers[0] === (i === 0 ? 0 : used[i - 1]!.at(-1)! + 1));
}

function isIn({ blockHash, blockNumber, removed }: Members, hash: unknown, block: number): boolean {
  return removed !== true && isSame(blockHash, hash) && isNumber(blockNumber, block);
}

/** A member that is left out or null contradicts nothing. */
function isSame(value: unknown, expected: unknown): boolean {
  return value === undefined || value === null || value === expected;
}

function isNumber(value: unknown, expected: number): boolean {
  return value === undefined || value === null || spelledNumber(value) === expected;
}
