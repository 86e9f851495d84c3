/** The contents of a chain, counted from the node's own answers without the project's decoder. */
import {
  createPublicClient,
  decodeAbiParameters,
  type Hex,
  http,
  type Log,
  parseAbiParameters,
  size,
} from 'viem';
import type { Anvil } from '../../src/dev/anvil.ts';
import type { TransferCounts } from '../../src/dev/planned-transaction.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const CONSECUTIVE = '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d';
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';

/** The relevant fields of a `trace_block` frame. */
export interface Frame {
  transactionHash: Hex;
  traceAddress: number[];
  type: 'call' | 'create' | 'suicide';
  error?: string;
  action: { callType?: string; value?: Hex; balance?: Hex; address?: Hex; refundAddress?: Hex };
}

interface Observed {
  transactions: number;
  reverted: number;
  yields: Required<TransferCounts>;
}

/** Counts from block 1 to the head; `wrapped` is the only contract whose deposits and withdrawals count. */
export async function observe(anvil: Anvil, wrapped: Hex): Promise<Observed> {
  const client = createPublicClient({ transport: http(anvil.url) });
  const yields = { native_direct: 0, native_internal: 0, erc20: 0, erc721: 0, erc1155: 0, malformed: 0 };
  const observed: Observed = { transactions: 0, reverted: 0, yields };
  const head = await client.getBlockNumber();
  for (let blockNumber = 1n; blockNumber <= head; blockNumber++) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    const frames = await traceBlock(anvil, blockNumber);
    for (const { hash, value } of transactions) {
      const receipt = await client.getTransactionReceipt({ hash });
      observed.transactions++;
      if (receipt.status === 'reverted') observed.reverted++;
      if (receipt.status === 'success' && value > 0n) yields.native_direct++;
      yields.native_internal += internalPayments(frames.filter((frame) => frame.transactionHash === hash));
      for (const log of receipt.logs) {
        const [kind, count] = classify(log, wrapped);
        if (kind !== 'ignored') yields[kind] += count;
      }
    }
  }
  return observed;
}

export async function traceBlock(anvil: Anvil, blockNumber: bigint): Promise<Frame[]> {
  return (await anvil.call('trace_block', [`0x${blockNumber.toString(16)}`])) as Frame[];
}

function internalPayments(frames: readonly Frame[]): number {
  const failed = frames.filter((frame) => frame.error !== undefined).map((frame) => frame.traceAddress);
  const undone = (frame: Frame) =>
    failed.some((path) => path.every((part, depth) => frame.traceAddress[depth] === part));
  return frames.filter((frame) => frame.traceAddress.length > 0 && paid(frame) && !undone(frame)).length;
}

function paid({ type, action }: Frame): boolean {
  if (type === 'suicide') return BigInt(action.balance ?? 0) > 0n && action.address !== action.refundAddress;
  if (type === 'call' && action.callType !== 'call') return false;
  return BigInt(action.value ?? 0) > 0n;
}

type Finding = [kind: keyof TransferCounts | 'ignored', count: number];

function classify(log: Log, wrapped: Hex): Finding {
  const [event, ...words] = log.topics;
  switch (event) {
    case TRANSFER:
      if (words.length === 2 && words.every(isAddress) && size(log.data) === 32) return ['erc20', 1];
      if (words.length === 3 && words.slice(0, 2).every(isAddress) && log.data === '0x') return ['erc721', 1];
      return ['malformed', 1];
    case SINGLE:
      return words.length === 3 && size(log.data) === 64 ? ['erc1155', 1] : ['malformed', 1];
    case BATCH:
      return batch(log.data);
    case CONSECUTIVE:
      return range(words[0], log.data);
    case DEPOSIT:
    case WITHDRAWAL:
      return [log.address === wrapped ? 'erc20' : 'ignored', 1];
    default:
      return ['ignored', 1];
  }
}

function isAddress(word: Hex): boolean {
  return word.startsWith(`0x${'0'.repeat(24)}`);
}

function batch(data: Hex): Finding {
  try {
    const [ids, amounts] = decodeAbiParameters(parseAbiParameters('uint256[], uint256[]'), data);
    return ids.length === amounts.length ? ['erc1155', ids.length] : ['malformed', 1];
  } catch {
    return ['malformed', 1];
  }
}

function range(first: Hex | undefined, data: Hex): Finding {
  if (first === undefined || size(data) !== 32) return ['malformed', 1];
  const count = BigInt(data) - BigInt(first) + 1n;
  return count > 0n && count <= 10_000n ? ['erc721', Number(count)] : ['malformed', 1];
}
