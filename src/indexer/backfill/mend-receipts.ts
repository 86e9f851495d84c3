/**
 * Receipts that leave something out, completed from other answers of the node. What a request names, its answer need
 * not repeat.
 */
import { readTransactions, transactionHash } from '../../decode/block.ts';
import { hashOfBlock, isNone, type JsonObject } from '../../decode/read-json.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { isSameHex, spelledNumber } from '../../lib/hex.ts';
import { anotherNode } from '../../lib/setting-name.ts';
import { isObject, previewValue } from '../../lib/text.ts';
import { unwrapList } from '../../lib/unwrap-list.ts';
import type { RpcCall, RpcClient } from '../../node/client.ts';
import { blockLogsCall, headerCall, receiptsOfHashCall } from '../../node/methods.ts';
import { isBusy } from '../../node/node-errors.ts';
import { fetchReceipts } from './load-receipts.ts';
import type { LoadedBlock } from './load-traces.ts';

/** What the steps know of the block. */
interface Mending {
  client: RpcClient;
  number: number;
  hash: string;
  txHashes: readonly string[];
  mayLose: boolean;
  signal: AbortSignal | undefined;
}

/**
 * The receipts of a block that were read in full, completed; `isMended` tells whether something was left out. Throws
 * UpstreamError where the node does not tell it elsewhere. With `mayLose`, receipts may be lost.
 */
export async function mendReceipts(
  client: RpcClient,
  { number, block, receipts }: LoadedBlock,
  signal?: AbortSignal,
  mayLose = false,
): Promise<{ receipts: unknown; isMended: boolean }> {
  const transactions = readTransactions(block);
  const txHashes = transactions.map(transactionHash);
  const mending: Mending = { client, number, hash: hashOfBlock(block), txHashes, mayLose, signal };
  const sent: unknown[] = Array.isArray(receipts) ? receipts : [];
  const given = sent.filter(isObject);
  let list = given;
  if (list.length < Math.max(sent.length, txHashes.length) || list.some(lacksTransaction))
    list = await withTransactions(mending, block, list);
  if (list.some(lacksBlock)) list = await withBlock(mending, list);
  if (list.some(lacksLogs)) list = await withLogs(mending, list);
  if (!isInOrder(list, txHashes)) list = await withIndexes(mending, transactions, list);
  return { receipts: list, isMended: list !== given };
}

const lacksTransaction = (receipt: JsonObject): boolean => isNone(receipt['transactionHash']);
const lacksBlock = (receipt: JsonObject): boolean => isNone(receipt['blockHash']);

/** Whether logs are left out, or one of them is none. Null is an empty list. */
function lacksLogs({ logs }: JsonObject): boolean {
  return logs !== null && !(Array.isArray(logs) && logs.every(isObject));
}

/** The receipts asked for by transaction, and those that belong to none of the block's. */
async function withTransactions(
  { client, number, txHashes, mayLose, signal }: Mending,
  block: JsonObject,
  list: readonly JsonObject[],
): Promise<JsonObject[]> {
  const ownHashes = new Set(txHashes);
  const others = list.filter((receipt) => !lacksTransaction(receipt) && !ownHashes.has(hashOf(receipt)));
  const own = await fetchReceipts(client, block, number, signal, mayLose);
  return [...own.filter(isObject), ...others];
}

/**
 * The same receipts of the block's hash, else those that name its number, if the node still has the block at that
 * number: the traces that are asked for by number prove as much.
 */
async function withBlock(mending: Mending, list: readonly JsonObject[]): Promise<JsonObject[]> {
  const { hash, number } = mending;
  const what = 'its receipts do not name it (blockHash)';
  let named: JsonObject[];
  try {
    named = await ask(mending, receiptsOfHashCall(hash), what);
  } catch (error) {
    if (!(error instanceof Unmended)) throw error;
    if (!list.every((receipt) => !lacksBlock(receipt) || spelledNumber(receipt['blockNumber']) === number))
      throw error;
    if ((await headerOf(mending)) === null) throw error;
    return list.map((receipt) => (lacksBlock(receipt) ? { ...receipt, blockHash: hash } : receipt));
  }
  const found = new Map(named.map((receipt) => [hashOf(receipt), receipt]));
  return list.map((receipt) => {
    if (!lacksBlock(receipt)) return receipt;
    const named = found.get(hashOf(receipt));
    if (named === undefined)
      throw unmended(number, what, `no receipt of ${hashOf(receipt)} by the block's hash`);
    return lacksBlock(named) ? { ...named, blockHash: hash } : named;
  });
}

/** The logs that receipts leave out, from those of the block. Receipts that have logs must have the same number. */
async function withLogs(mending: Mending, list: readonly JsonObject[]): Promise<JsonObject[]> {
  const { hash, number } = mending;
  const what = 'its receipts leave logs out';
  const logs = await ask(mending, blockLogsCall(hash), what);
  const foreign = logs.find(({ blockHash }) => !isSameHex(blockHash, hash));
  if (foreign !== undefined)
    throw unmended(number, what, `eth_getLogs has one of block ${previewValue(foreign['blockHash'])}`);
  const found = Map.groupBy(logs, hashOf);
  return list.map((receipt) => {
    const own = found.get(hashOf(receipt)) ?? [];
    if (lacksLogs(receipt)) return { ...receipt, logs: own };
    const { length } = Array.isArray(receipt['logs']) ? receipt['logs'] : [];
    if (own.length === length) return receipt;
    throw unmended(
      number,
      what,
      `eth_getLogs has ${own.length} of ${hashOf(receipt)}, its receipt ${length}`,
    );
  });
}

/** The header that the node has at the block's number; null if it is another one's. */
async function headerOf({ client, number, hash, signal }: Mending): Promise<JsonObject | null> {
  const { method, params } = headerCall(number);
  const header = await client.call(method, params, signal);
  return isObject(header) && isSameHex(header.hash, hash) ? header : null;
}

/** Numbers the receipts where the block tells twice in which order its transactions are. */
async function withIndexes(
  mending: Mending,
  transactions: readonly JsonObject[],
  list: JsonObject[],
): Promise<JsonObject[]> {
  const { txHashes } = mending;
  const areNumbered = transactions.every((tx, i) => spelledNumber(tx['transactionIndex']) === i);
  const areListed = async () => areSame((await headerOf(mending))?.['transactions'], txHashes);
  if (!areNumbered && (transactions.some(isNumbered) || !(await areListed()))) return list;
  const firstPlaces = new Map(txHashes.map((txHash, i) => [txHash, i] as const).toReversed());
  return list.map((receipt) => {
    const at = firstPlaces.get(hashOf(receipt));
    return at === undefined || isNumbered(receipt) ? receipt : { ...receipt, transactionIndex: at };
  });
}

const isNumbered = ({ transactionIndex }: JsonObject): boolean => !isNone(transactionIndex);

function areSame(sent: unknown, hashes: readonly string[]): boolean {
  return (
    Array.isArray(sent) &&
    sent.length === hashes.length &&
    sent.every((each, i) => isSameHex(each, hashes[i]!))
  );
}

/** Whether the receipts of transactions have the order of the transactions. */
function isInOrder(list: readonly JsonObject[], txHashes: readonly string[]): boolean {
  const places = new Map(txHashes.map((hash, i) => [hash, i]));
  let last = -1;
  return list.every((receipt) => {
    const at = places.get(hashOf(receipt)) ?? last;
    const isNext = at >= last;
    last = at;
    return isNext;
  });
}

function hashOf(item: JsonObject): string {
  const hash = item['transactionHash'];
  return typeof hash === 'string' ? hash.toLowerCase() : '';
}

/** The objects of a list. An error that does not pass says that the node does not tell. */
async function ask({ client, number, signal }: Mending, call: RpcCall, what: string): Promise<JsonObject[]> {
  try {
    const items = unwrapList(await client.call(call.method, call.params, signal));
    if (Array.isArray(items) && items.every(isObject)) return items;
    throw unmended(number, what, `${call.method} answers with ${previewValue(items)}`);
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.reason !== 'rpc' || isBusy(error)) throw error;
    throw unmended(number, what, error.message);
  }
}

/** The node does not tell what an answer left out. */
class Unmended extends UpstreamError {
  override name = 'Unmended';
}

function unmended(number: number, what: string, why: string): Unmended {
  return new Unmended(
    'inconsistent',
    `block ${number}: ${what}, and another request does not tell it: ${why}; ${anotherNode()}`,
  );
}
