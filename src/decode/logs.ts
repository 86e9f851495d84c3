import { TransferKind } from '../model/transfer-kind.ts';
import type { BatchBuilder } from './batch.ts';
import { readArray, readBigInt, readData, readHex, readQuantity } from './read-json.ts';
import { logsIn } from './receipts.ts';
import type { DecodeRules } from './rules.ts';

/** keccak256 of `Transfer(address,address,uint256)`, ERC-20 and ERC-721. */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** `TransferSingle(address,address,address,uint256,uint256)`, ERC-1155. */
export const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
/** `TransferBatch(address,address,address,uint256[],uint256[])`, ERC-1155. */
export const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
/** `ConsecutiveTransfer(uint256,uint256,address,address)`, ERC-2309. */
export const CONSECUTIVE_TRANSFER = '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d';
/** `Deposit(address,uint256)` of wrapped native coins. */
export const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
/** `Withdrawal(address,uint256)` of wrapped native coins. */
export const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';

/** `Upgraded(address)` of proxies (ERC-1967). */
const UPGRADED = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';

/** EIP-7708's emitter. Its Transfer logs repeat native transfers and belong to no token. */
const NATIVE_LOG_EMITTER = '0xfffffffffffffffffffffffffffffffffffffffe';

/** The decoded fields of a log, all as `0x` text; emitter and topics in lower case. */
export interface Log {
  emitter: string;
  topics: readonly string[];
  data: string;
  index: number;
}

/**
 * Most transfers expanded from one ERC-2309 range. The standard sets no bound, so one log could claim 2^256.
 * BatchBuilder also bounds the total per block.
 */
const CONSECUTIVE_LIMIT = 10_000n;

/** Characters of `0x` and n 32-byte words. */
const hexLength = (n: number): number => 2 + 64 * n;

/** Reads the logs of a receipt. */
export function readLogs(receipt: Record<string, unknown>): Log[] {
  return logsIn(receipt).map(({ address, topics, data, logIndex }) => ({
    emitter: readHex(address, 40, 'log address'),
    topics: readTopics(topics),
    data: readData(data, 'log data'),
    index: readIndex(logIndex),
  }));
}

/** The index of a log without a number; BlockChecks gives it the next one. */
export const UNNUMBERED = -1;

function readIndex(value: unknown): number {
  const isNumbered = value !== undefined && value !== null && value !== '';
  return !isNumbered ? UNNUMBERED : readQuantity(value, 'logIndex', 2 ** 31 - 1);
}

/**
 * Topics in lower case, without the nulls that databases of four columns put after them. A node that sends upper-case
 * digits sends them everywhere, and the first topic of a transfer has letters, so it tells: converting all topics of
 * every log takes 3 % of the time to decode a block.
 */
function readTopics(value: unknown): string[] {
  const items = readArray(value, 'log topics');
  while (items.at(-1) === null) items.pop();
  const topics = items.map((topic) => readData(topic, 'log topic'));
  const [first] = topics;
  const isLower = first === undefined || first === first.toLowerCase();
  return isLower ? topics : topics.map((topic) => topic.toLowerCase());
}

/** The rules that decide which logs are token transfers. */
type LogRules = Pick<DecodeRules, 'version' | 'wrappedNative' | 'nativeContracts' | 'unindexedErc20'>;

/** Pushes every token transfer in the logs of one transaction. */
export function decodeLogs(out: BatchBuilder, logs: readonly Log[], rules: LogRules): void {
  const { wrappedNative, nativeContracts } = rules;
  let transfers: TransferCounts | null = null;
  for (const log of logs) {
    if (log.emitter === NATIVE_LOG_EMITTER) continue;
    if (nativeContracts.size > 0 && nativeContracts.has(log.emitter)) continue;
    switch (log.topics[0]) {
      case TRANSFER:
        decodeTransfer(out, log, rules);
        break;
      case TRANSFER_SINGLE:
        decodeSingle(out, log);
        break;
      case TRANSFER_BATCH:
        decodeBatch(out, log);
        break;
      case CONSECUTIVE_TRANSFER:
        decodeConsecutive(out, log);
        break;
      case DEPOSIT:
      case WITHDRAWAL:
        if (!wrappedNative.has(log.emitter)) break;
        transfers ??= new TransferCounts(logs);
        decodeWrapped(out, log, transfers);
        break;
      case UPGRADED:
        out.noteUpgrade(`0x${log.emitter.slice(2)}`);
        break;
    }
  }
}

/** The 40 digits of the address in a topic; null unless the topic is 32 bytes with the upper 12 zero. */
export function addressFromTopic(topic: string): string | null {
  return topic.length === 66 && topic.startsWith('0x000000000000000000000000') ? topic.slice(26) : null;
}

/** Pushes a transfer between the addresses in two topics. Counts it as skipped when one is not an address. */
function pushBetween(
  out: BatchBuilder,
  kind: number,
  log: Log,
  fromTopic: string,
  toTopic: string,
  amountText: string,
  amountStart: number,
  tokenNumberText = '',
): void {
  const from = addressFromTopic(fromTopic);
  const to = addressFromTopic(toTopic);
  if (from === null || to === null) return out.skip('dirty_address', log.emitter);
  const end = amountText === '' ? 0 : amountStart + 64;
  out.push(kind, from, to, log.emitter.slice(2), log.index, amountText, amountStart, end, tokenNumberText);
}

/** ERC-20 by three topics and one word of data, ERC-721 by four topics and no data. */
function decodeTransfer(out: BatchBuilder, log: Log, rules: LogRules): void {
  const [, from, to, number] = log.topics;
  if (from === undefined && rules.version >= 2) return decodeUnindexed(out, log, rules);
  if (from !== undefined && to === undefined) return out.skip('transfer_one_indexed', log.emitter);
  if (from === undefined || to === undefined || log.topics.length > 4)
    return out.skip('transfer_topics', log.emitter);
  if (number === undefined) {
    if (log.data.length !== hexLength(1)) return out.skip('transfer_data', log.emitter);
    return pushBetween(out, TransferKind.erc20, log, from, to, log.data, 2);
  }
  if (log.data.length !== hexLength(0)) return out.skip('transfer_data', log.emitter);
  pushBetween(out, TransferKind.erc721, log, from, to, '', 0, number.slice(2));
}

/**
 * A Transfer of the first tokens, which indexed none of its arguments: from, to, and the token's number in the data.
 * Three of four such tokens are NFTs; those that are not are listed.
 */
function decodeUnindexed(out: BatchBuilder, log: Log, { unindexedErc20 }: LogRules): void {
  if (log.data.length !== hexLength(3)) return out.skip('transfer_data', log.emitter);
  const [from, to] = unindexedSides(log);
  if (unindexedErc20.has(log.emitter)) pushBetween(out, TransferKind.erc20, log, from, to, log.data, 130);
  else pushBetween(out, TransferKind.erc721, log, from, to, '', 0, log.data.slice(130));
}

function unindexedSides({ data }: Log): [from: string, to: string] {
  return [`0x${data.slice(2, 66)}`, `0x${data.slice(66, 130)}`];
}

/** ERC-1155 TransferSingle(operator, from, to, id, value): id and value are in the data. */
function decodeSingle(out: BatchBuilder, log: Log): void {
  const [, , from, to] = log.topics;
  if (from === undefined || to === undefined || log.topics.length !== 4 || log.data.length !== hexLength(2)) {
    return out.skip('single_shape', log.emitter);
  }
  pushBetween(out, TransferKind.erc1155, log, from, to, log.data, 66, log.data.slice(2, 66));
}

/** ERC-1155 TransferBatch(operator, from, to, ids[], values[]): one transfer per id; none when the lengths differ. */
function decodeBatch(out: BatchBuilder, log: Log): void {
  const [, , from, to] = log.topics;
  if (from === undefined || to === undefined || log.topics.length !== 4)
    return out.skip('batch_shape', log.emitter);
  const ids = arrayAt(log.data, 0);
  const values = arrayAt(log.data, 1);
  if (ids === null || values === null || ids.length !== values.length)
    return out.skip('batch_shape', log.emitter);
  if (addressFromTopic(from) === null || addressFromTopic(to) === null)
    return out.skip('dirty_address', log.emitter);
  for (let i = 0; i < ids.length; i++) {
    const id = ids.start + 64 * i;
    pushBetween(
      out,
      TransferKind.erc1155,
      log,
      from,
      to,
      log.data,
      values.start + 64 * i,
      log.data.slice(id, id + 64),
    );
  }
}

/**
 * The ABI array whose offset is in head word `head`: its length and the text position of its first word; null when it
 * exceeds the data.
 */
function arrayAt(data: string, head: number): { start: number; length: number } | null {
  const offset = smallWord(data, hexLength(head));
  if (offset === null) return null;
  const at = 2 + offset * 2;
  const length = smallWord(data, at);
  if (length === null || at + 64 + length * 64 > data.length) return null;
  return { start: at + 64, length };
}

/** The 32-byte word at a text position as a number; null when it is outside the data or exceeds 2^32. */
function smallWord(data: string, at: number): number | null {
  if (at + 64 > data.length) return null;
  for (let i = at; i < at + 56; i++) if (data.charCodeAt(i) !== 48) return null;
  const value = Number.parseInt(data.slice(at + 56, at + 64), 16);
  return Number.isNaN(value) ? null : value;
}

/**
 * ERC-2309 ConsecutiveTransfer(fromTokenId, toTokenId, from, to): one ERC-721 transfer per id; none beyond the limit.
 */
function decodeConsecutive(out: BatchBuilder, log: Log): void {
  const [, first, from, to] = log.topics;
  if (
    first === undefined ||
    from === undefined ||
    to === undefined ||
    log.topics.length !== 4 ||
    log.data.length !== hexLength(1)
  ) {
    return out.skip('consecutive_shape', log.emitter);
  }
  const start = readBigInt(readHex(first, 64, 'first id of a range'), 'first id of a range');
  const end = readBigInt(log.data, 'last id of a range');
  if (end < start) return out.skip('consecutive_shape', log.emitter);
  if (addressFromTopic(from) === null || addressFromTopic(to) === null)
    return out.skip('dirty_address', log.emitter);
  if (end - start >= CONSECUTIVE_LIMIT || !out.reserveRangeIds(Number(end - start) + 1))
    return out.skip('consecutive_range', log.emitter);
  for (let id = start; id <= end; id++)
    pushBetween(out, TransferKind.erc721, log, from, to, '', 0, id.toString(16));
}

/**
 * Deposit and Withdrawal of a wrapped native coin: a mint or a burn, unless the contract also emitted an equal Transfer
 * from or to zero in the same transaction. Each such Transfer covers one event.
 */
function decodeWrapped(out: BatchBuilder, log: Log, transfers: TransferCounts): void {
  const account = log.topics[1];
  if (account === undefined || log.topics.length !== 2 || log.data.length !== hexLength(1))
    return out.skip('wrapped_shape', log.emitter);
  const zero = `0x${'0'.repeat(64)}`;
  const [from, to] = log.topics[0] === DEPOSIT ? [zero, account] : [account, zero];
  if (transfers.take(log.emitter, from, to, log.data)) return;
  pushBetween(out, TransferKind.erc20, log, from, to, log.data, 2);
}

/**
 * The Transfer logs of one transaction, counted by content, because searching a list of thousands per event would take
 * seconds.
 */
class TransferCounts {
  private readonly counts = new Map<string, number>();

  constructor(logs: readonly Log[]) {
    for (const { emitter, topics, data } of logs) {
      if (topics[0] !== TRANSFER || topics.length !== 3) continue; // with four topics it is an NFT transfer
      const key = `${emitter} ${topics[1]} ${topics[2]} ${data}`;
      this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    }
  }

  /** Takes one such Transfer. Returns false when none is left. */
  take(emitter: string, from: string, to: string, data: string): boolean {
    const key = `${emitter} ${from} ${to} ${data}`;
    const left = this.counts.get(key) ?? 0;
    if (left > 0) this.counts.set(key, left - 1);
    return left > 0;
  }
}
