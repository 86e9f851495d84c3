/** A block whose parts agree, blooms included, and every way to change one thing in a node's answers about it. */
import { hexToBytes, keccak256, toHex } from 'viem/utils';
import type { Hex } from '../../../src/lib/hex.ts';

/** Members are changed freely, whatever they are. */
export type Members = Record<string, unknown>;

/** A node's answers about one block. */
export interface BlockAnswers {
  block: Members;
  receipts: Members[];
  traces: Members[];
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const hash = (text: string): Hex => keccak256(toHex(text));
const address = (name: string): Hex => `0x${hash(name).slice(2, 42)}`;
const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const topic = (name: string): Hex => `0x${address(name).slice(2).padStart(64, '0')}`;

export function bloomOf(logs: readonly Members[]): Hex {
  const bloom = new Uint8Array(256);
  for (const { address: emitter, topics } of logs)
    for (const item of [emitter, ...(topics as unknown[])]) {
      const digest = keccak256(hexToBytes(item as Hex), 'bytes');
      for (const i of [0, 2, 4]) {
        const bit = ((digest[i]! << 8) | digest[i + 1]!) & 2047;
        bloom[255 - (bit >> 3)]! |= 1 << (bit & 7);
      }
    }
  return toHex(bloom);
}

/** Logs per transaction. The first one only pays. */
const LOGS = [0, 2, 1, 3];

/** Block `number` of a chain, with an internal transfer in each transaction that runs code. */
export function honestBlock(number: number): BlockAnswers {
  const blockHash = hash(`block ${number}`);
  const blockNumber = toHex(number);
  let logIndex = 0;
  const receipts: Members[] = [];
  const transactions: Members[] = [];
  const traces: Members[] = [];
  for (const [i, count] of LOGS.entries()) {
    const name = `${number}/${i}`;
    const transactionHash = hash(`tx ${name}`);
    const [from, to] = [address(`from ${name}`), address(`to ${name}`)];
    const value = toHex(1000 + 10 * number + i);
    const place = { blockHash, blockNumber, transactionHash, transactionIndex: toHex(i) };
    const logs = Array.from({ length: count }, (_, k) => ({
      address: address(`token ${name} ${k}`),
      topics: [TRANSFER, topic(`sender ${name} ${k}`), topic(`receiver ${name} ${k}`)],
      data: `0x${word(BigInt(100 * number + 10 * i + k + 1))}`,
      ...place,
      logIndex: toHex(logIndex++),
      removed: false,
    }));
    const input = count === 0 ? '0x' : '0xaabbccdd';
    const at = { blockHash, blockNumber, transactionIndex: toHex(i) };
    transactions.push({ hash: transactionHash, type: '0x2', from, to, value, input, ...at });
    receipts.push({
      ...place,
      contractAddress: null,
      from,
      gasUsed: count === 0 ? '0x5208' : '0xc350',
      logs,
      logsBloom: bloomOf(logs),
      status: '0x1',
      to,
      type: '0x2',
    });
    const paid = { type: 'CALL', from: to, to: address(`paid ${name}`), value: toHex(7 + i), input: '0x' };
    const calls = count === 0 ? [] : [paid];
    traces.push({ txHash: transactionHash, result: { type: 'CALL', from, to, value, input, calls } });
  }
  const all = receipts.flatMap(({ logs }) => logs as Members[]);
  const block = {
    number: blockNumber,
    hash: blockHash,
    parentHash: hash(`block ${number - 1}`),
    timestamp: toHex(1_700_000_000 + number),
    gasUsed: '0x30d40',
    receiptsRoot: hash(`receipts ${number}`),
    logsBloom: bloomOf(all),
    transactions,
  };
  return { block, receipts, traces };
}

/** The objects of an answer, by what they are. */
function objectsOf({ block, receipts, traces }: BlockAnswers): Record<string, Members[]> {
  const roots = traces.map(({ result }) => result as Members);
  return {
    block: [block],
    transaction: block['transactions'] as Members[],
    receipt: receipts,
    log: receipts.flatMap(({ logs }) => logs as Members[]),
    trace: traces,
    'root frame': roots,
    'inner frame': roots.flatMap(({ calls }) => calls as Members[]),
  };
}

/** The lists of an answer. */
function listsOf({ block, receipts, traces }: BlockAnswers): Record<string, unknown[]> {
  const [, first, , last] = receipts as [Members, Members, Members, Members];
  const root = traces[1]!['result'] as Members;
  return {
    transactions: block['transactions'] as unknown[],
    receipts,
    'logs of a receipt': first['logs'] as unknown[],
    'logs of the last receipt': last['logs'] as unknown[],
    traces,
    'calls of a frame': root['calls'] as unknown[],
  };
}

export interface Lie {
  name: string;
  tell(answers: BlockAnswers): void;
}

/** Another value of the same form. */
function changed(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (value === null) return address('other');
  if (typeof value !== 'string') return value;
  const digit = value.at(-1) === '1' ? '0' : '1';
  return value.length > 3 ? `${value.slice(0, -1)}${digit}` : value === '0x0' ? '0x1' : '0x0';
}

/** Every lie about one member or one list. `other` is another block of the chain. */
export function liesAbout(number: number, other: number): Lie[] {
  const sample = objectsOf(honestBlock(number));
  const lies: Lie[] = [];
  for (const [kind, objects] of Object.entries(sample)) {
    const at = objects.length - 1;
    for (const name of Object.keys(objects[at]!)) {
      if (Array.isArray(objects[at]![name]) || typeof objects[at]![name] === 'object') continue;
      const lie = (how: string, edit: (target: Members, all: Members[]) => void) =>
        lies.push({
          name: `${kind}.${name} ${how}`,
          tell(answers) {
            const all = objectsOf(answers)[kind]!;
            edit(all[at]!, all);
          },
        });
      lie('dropped', (target) => delete target[name]);
      lie('changed', (target) => {
        target[name] = changed(target[name]);
      });
      if (at > 0)
        lie('swapped', (target, all) => {
          [target[name], all[at - 1]![name]] = [all[at - 1]![name], target[name]];
        });
      lie('of another block', (target) => {
        target[name] = objectsOf(honestBlock(other))[kind]![at]![name];
      });
    }
  }
  for (const name of Object.keys(listsOf(honestBlock(number)))) {
    const lie = (how: string, edit: (list: unknown[], others: unknown[]) => void) =>
      lies.push({
        name: `${name}: ${how}`,
        tell: (answers) => edit(listsOf(answers)[name]!, listsOf(honestBlock(other))[name]!),
      });
    lie('first item dropped', (list) => list.shift());
    lie('last item dropped', (list) => list.pop());
    lie('all dropped', (list) => list.splice(0));
    lie('last item duplicated', (list) => list.push(structuredClone(list.at(-1))));
    lie('first two swapped', (list) => list.splice(0, 2, ...list.slice(0, 2).reverse()));
    lie('last item of another block', (list, others) => list.splice(-1, 1, others.at(-1)));
    lie('all of another block', (list, others) => list.splice(0, list.length, ...others));
  }
  return lies;
}
