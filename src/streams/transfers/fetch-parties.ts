/** Asks a node for the senders and receivers of transactions. */
import { ObjectProjection } from '../../lib/projection.ts';
import { isObject } from '../../lib/text.ts';
import { ADDRESS_PATTERN, mayBeCreation } from '../../model/address.ts';
import type { RpcCall, RpcClient, RpcReply } from '../../node/client.ts';
import type { Parties } from '../../query/stored-parties.ts';

/** Hex digits without prefix. */
export interface TransactionRef {
  hash: string;
  blockHash: string;
}

/** Why the node's answer does not name the parties of a transaction. */
interface Problem {
  problem: string;
}

/** From this many wanted transactions on, a whole block costs the node and this thread less. */
const DENSE_BLOCK = 60;
/** Blocks asked for at a time, each with all its transactions. */
const BLOCKS_PER_BATCH = 4;

const TRANSACTION = new ObjectProjection({ hash: 'whole', from: 'whole', to: 'whole', blockHash: 'whole' });
const RECEIPT = new ObjectProjection({ contractAddress: 'whole' });
const BLOCK = new ObjectProjection({
  transactions: new ObjectProjection({ hash: 'whole', from: 'whole', to: 'whole' }),
});

/** Longest quote of a node, characters. */
const MAX_WORDS = 200;

type BatchClient = Pick<RpcClient, 'batch'>;

/** What a node says of a transaction. */
type Transaction = Record<string, unknown>;

/**
 * The parties of transactions, in their order. Many transactions of one block are read with their block. A transaction
 * that the node does not return, or returns from another block, is looked up in its block: nodes prune the index of
 * transactions first. Rejects if the node does not answer within `timeoutMs`.
 */
export async function fetchParties(
  client: BatchClient,
  refs: readonly TransactionRef[],
  timeoutMs: number,
): Promise<(Parties | Problem)[]> {
  const found = new Map<string, Transaction>();
  const isMissing = ({ hash }: TransactionRef): boolean => !found.has(hash);
  const dense = inDenseBlocks(refs);
  const sparse = refs.filter((ref) => !dense.includes(ref));
  const [sparseReplies] = await Promise.all([
    askByHash(client, sparse, timeoutMs),
    findInBlocks(client, dense, found, timeoutMs),
  ]);
  const lost = dense.filter(isMissing);
  const asked = [...sparse, ...lost];
  const replies = [...sparseReplies, ...(await askByHash(client, lost, timeoutMs))];
  for (const [i, { hash, blockHash }] of asked.entries()) {
    const transaction = resultOf(replies[i]!);
    if (transaction !== null && isIn(transaction, blockHash)) found.set(hash, transaction);
  }
  await findInBlocks(client, asked.filter(isMissing), found, timeoutMs);
  const problems = new Map<string, string>();
  for (const [i, { hash }] of asked.entries()) {
    if (found.has(hash)) continue;
    const moved = resultOf(replies[i]!); // by a reorg: it has the same parties in its new block
    if (moved === null) problems.set(hash, problemOf(replies[i]!));
    else found.set(hash, moved);
  }
  const created = await fetchCreated(client, refs, found, timeoutMs);
  return refs.map(({ hash }) => {
    const transaction = found.get(hash);
    if (transaction === undefined) return { problem: problems.get(hash) ?? '' };
    return readParties(transaction['from'], created.get(hash) ?? transaction['to']);
  });
}

function inDenseBlocks(refs: readonly TransactionRef[]): TransactionRef[] {
  const counts = new Map<string, number>();
  for (const { blockHash } of refs) counts.set(blockHash, (counts.get(blockHash) ?? 0) + 1);
  return refs.filter(({ blockHash }) => counts.get(blockHash)! >= DENSE_BLOCK);
}

function askByHash(
  client: BatchClient,
  refs: readonly TransactionRef[],
  timeoutMs: number,
): Promise<RpcReply[]> {
  const calls = refs.map(
    ({ hash }): RpcCall => ({ method: 'eth_getTransactionByHash', params: [`0x${hash}`] }),
  );
  return ask(client, calls, TRANSACTION, timeoutMs);
}

async function ask(
  client: BatchClient,
  calls: readonly RpcCall[],
  projection: ObjectProjection,
  timeoutMs: number,
): Promise<RpcReply[]> {
  return calls.length === 0 ? [] : client.batch(calls, AbortSignal.timeout(timeoutMs), projection);
}

function resultOf(reply: RpcReply): Record<string, unknown> | null {
  return 'result' in reply && isObject(reply.result) ? reply.result : null;
}

/** Some chains repeat a transaction hash in a later block. */
function isIn(transaction: Record<string, unknown>, blockHash: string): boolean {
  const block = transaction['blockHash'];
  return typeof block !== 'string' || block.toLowerCase() === `0x${blockHash}`;
}

/** Adds the wanted transactions that their blocks contain. */
async function findInBlocks(
  client: BatchClient,
  refs: readonly TransactionRef[],
  found: Map<string, Transaction>,
  timeoutMs: number,
): Promise<void> {
  const wanted = new Set(refs.map(({ hash }) => hash));
  const blocks = [...new Set(refs.map(({ blockHash }) => blockHash))];
  for (let at = 0; at < blocks.length; at += BLOCKS_PER_BATCH) {
    const calls = blocks
      .slice(at, at + BLOCKS_PER_BATCH)
      .map((hash): RpcCall => ({ method: 'eth_getBlockByHash', params: [`0x${hash}`, true] }));
    for (const reply of await ask(client, calls, BLOCK, timeoutMs)) {
      const block = resultOf(reply)?.['transactions'];
      for (const transaction of Array.isArray(block) ? block : []) {
        const hash = isObject(transaction) ? transaction['hash'] : null;
        const digits = typeof hash === 'string' ? hash.slice(2).toLowerCase() : '';
        if (wanted.has(digits)) found.set(digits, transaction);
      }
    }
  }
}

/** The contracts that transactions created, by the hash of the transaction. */
async function fetchCreated(
  client: BatchClient,
  refs: readonly TransactionRef[],
  found: ReadonlyMap<string, Transaction>,
  timeoutMs: number,
): Promise<Map<string, unknown>> {
  const creations = refs.filter(({ hash }) => mayBeCreation(found.get(hash)?.['to']) && found.has(hash));
  const calls = creations.map(
    ({ hash }): RpcCall => ({ method: 'eth_getTransactionReceipt', params: [`0x${hash}`] }),
  );
  const replies = await ask(client, calls, RECEIPT, timeoutMs);
  return new Map(replies.map((reply, i) => [creations[i]!.hash, createdBy(resultOf(reply))]));
}

/** A transfer to the zero address looks like a creation. Its receipt names no contract. */
function createdBy(receipt: Transaction | null): unknown {
  const contract = receipt?.['contractAddress'];
  return mayBeCreation(contract) ? undefined : contract;
}

function readParties(from: unknown, to: unknown): Parties | Problem {
  const isAddress = (value: unknown): value is string =>
    typeof value === 'string' && ADDRESS_PATTERN.test(value);
  if (!isAddress(from)) return { problem: 'the node does not name the sender of the transaction' };
  if (!isAddress(to)) return { problem: 'the node does not name the receiver of the transaction' };
  return { from: from.slice(2).toLowerCase(), to: to.slice(2).toLowerCase() };
}

function problemOf(reply: RpcReply): string {
  const words = 'error' in reply ? `: ${reply.error.message.slice(0, MAX_WORDS)}` : '';
  return `the node returns neither the transaction nor its block${words}`;
}
