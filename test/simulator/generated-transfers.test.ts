/**
 * The generator's own list of transfers, compared with a recount of its JSON by a decoder that shares nothing with it.
 */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import type { GeneratedBlock } from '../../scripts/simulator/chain/block.ts';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const ZERO = `0x${'0'.repeat(40)}`;
const MOVING_FRAMES = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'];

interface Log {
  address: string;
  topics: string[];
  data: string;
  logIndex: string;
}
interface Receipt {
  status: string;
  contractAddress: string | null;
  logs: Log[];
}
interface Frame {
  type: string;
  from: string;
  to?: string;
  value?: string;
  error?: string;
  calls?: Frame[];
}
interface Tx {
  hash: string;
  from: string;
  to: string | null;
  value: string;
}
interface Row {
  block: number;
  hash: string;
  kind: string;
  token?: string;
  from: string;
  to: string;
  amount: bigint;
  tokenId?: bigint;
  logIndex?: number;
  batchIndex?: number;
}

for (const trades of [false, true])
  suite(`the transfers of a generated chain ${trades ? 'with' : 'without'} trades`, () => {
    let blocks: GeneratedBlock[];
    let rows: Row[];

    before(() => {
      const options = { blocks: 30, txPerBlock: 120, tokens: 40, wallets: 100, unindexedEvery: 5, trades };
      blocks = [...generateChain(options).blocks];
      rows = blocks.flatMap(decodeBlock);
    });

    test('are those that a recount of the JSON finds', () => {
      const plain = (list: Row[]) =>
        list
          .map((row) =>
            JSON.stringify([
              row.hash,
              row.kind,
              row.token,
              row.from,
              row.to,
              String(row.amount),
              String(row.tokenId),
              row.logIndex,
              row.batchIndex,
            ]),
          )
          .sort();
      for (const block of blocks) {
        assert.deepEqual(plain(block.transfers), plain(decodeBlock(block)));
      }
    });

    test('are of every kind and form, among look-alikes that are not transfers', () => {
      const transactions = blocks.flatMap(({ block }): Tx[] => JSON.parse(block).transactions);
      const receipts = blocks.flatMap(parseReceipts);
      const logs = receipts.flatMap((receipt) => receipt.logs);
      const failed = (i: number) => receipts[i]?.status === '0x0';
      const frames = blocks.flatMap(({ trace }) =>
        JSON.parse(trace ?? '[]').flatMap(({ result }: { result: Frame }) => result.calls ?? []),
      ) as Frame[];
      const occurs = {
        payment: rows.some(({ kind }) => kind === 'native'),
        'payment to oneself': rows.some(({ kind, from, to }) => kind === 'native' && from === to),
        'payment that failed': transactions.some(({ value }, i) => BigInt(value) > 0n && failed(i)),
        'creation with value': transactions.some(({ to, value }) => to === null && BigInt(value) > 0n),
        'internal payment': rows.some(({ kind }) => kind === 'internal'),
        'reverted frame with value': frames.some(({ error, value }) => error && BigInt(value ?? 0) > 0n),
        'ERC-20 of nothing': rows.some(({ kind, amount }) => kind === 'erc20' && amount === 0n),
        'ERC-20 to oneself': rows.some(({ kind, from, to }) => kind === 'erc20' && from === to),
        'single ERC-1155': rows.some(
          ({ kind, batchIndex }) => kind === 'erc1155' && batchIndex === undefined,
        ),
        'batch of ERC-1155': rows.some(({ batchIndex }) => batchIndex !== undefined && batchIndex > 0),
        'ERC-721 without indexed arguments': logs.some(
          (log) => log.topics.length === 1 && decodeLog(log).length === 1,
        ),
        'empty batch': logs.some(
          ({ topics, data }) => topics[0] === BATCH && `${wordsOf(data)}` === '64,96,0,0',
        ),
        'malformed log': logs.some((log) => log.topics[0] === TRANSFER && decodeLog(log).length === 0),
        'other log': logs.some(({ topics }) => topics[0] && ![TRANSFER, SINGLE, BATCH].includes(topics[0])),
      };
      const missing = Object.entries(occurs).flatMap(([what, found]) => (found ? [] : what));
      for (const kind of ['erc20', 'erc721', 'erc1155']) {
        if (!rows.some((row) => row.kind === kind && row.from === ZERO)) missing.push(`mint of ${kind}`);
        if (!rows.some((row) => row.kind === kind && row.to === ZERO)) missing.push(`burn of ${kind}`);
      }
      assert.deepEqual(missing, []);
    });
  });

function decodeBlock(block: GeneratedBlock): Row[] {
  const { transactions }: { transactions: Tx[] } = JSON.parse(block.block);
  const traces: { txHash: string; result: Frame }[] = JSON.parse(block.trace ?? '[]');
  return parseReceipts(block).flatMap((receipt, i) => {
    const tx = transactions[i];
    assert.ok(tx && traces[i]?.txHash === tx.hash);
    if (receipt.status === '0x0') return [];
    const place = { block: block.number, hash: tx.hash };
    const value = BigInt(tx.value);
    const to = tx.to ?? receipt.contractAddress ?? ZERO;
    const direct: Row[] = value > 0n ? [{ ...place, kind: 'native', from: tx.from, to, amount: value }] : [];
    const internal = decodeFrames(traces[i].result.calls ?? []).map((move) => ({ ...place, ...move }));
    const tokens = receipt.logs.flatMap(decodeLog).map((move) => ({ ...place, ...move }));
    return [...direct, ...internal, ...tokens];
  });
}

function parseReceipts(block: GeneratedBlock): Receipt[] {
  return JSON.parse(block.receipts);
}

type Move = Omit<Row, 'block' | 'hash'>;

function decodeFrames(frames: Frame[]): Move[] {
  return frames.flatMap((frame) => {
    if (frame.error) return [];
    const amount = BigInt(frame.value ?? 0);
    const moves = MOVING_FRAMES.includes(frame.type) && amount > 0n;
    const own: Move[] = moves ? [{ kind: 'internal', from: frame.from, to: frame.to ?? ZERO, amount }] : [];
    return [...own, ...decodeFrames(frame.calls ?? [])];
  });
}

function decodeLog({ address, topics, data, logIndex }: Log): Move[] {
  const shared = { token: address, logIndex: Number(logIndex) };
  const words = wordsOf(data);
  const [event, first, second, third] = topics;
  if (event === TRANSFER && topics.length === 3 && words.length === 1) {
    return [{ ...shared, kind: 'erc20', from: tail(first), to: tail(second), amount: words[0] ?? 0n }];
  }
  if (event === TRANSFER && topics.length === 4 && data === '0x') {
    return [
      {
        ...shared,
        kind: 'erc721',
        from: tail(first),
        to: tail(second),
        amount: 1n,
        tokenId: BigInt(third ?? 0),
      },
    ];
  }
  if (event === TRANSFER && topics.length === 1 && words.length === 3) {
    const [from = 0n, to = 0n, tokenId] = words;
    return [{ ...shared, kind: 'erc721', from: addressOf(from), to: addressOf(to), amount: 1n, tokenId }];
  }
  if (topics.length !== 4) return [];
  const parties = { ...shared, kind: 'erc1155', from: tail(second), to: tail(third) };
  if (event === SINGLE && words.length === 2)
    return [{ ...parties, tokenId: words[0], amount: words[1] ?? 0n }];
  if (event !== BATCH) return [];
  const ids = arrayAt(words, 0);
  const amounts = arrayAt(words, 1);
  if (!ids || !amounts || ids.length !== amounts.length) return [];
  return ids.map((tokenId, batchIndex) => ({
    ...parties,
    tokenId,
    amount: amounts[batchIndex] ?? 0n,
    batchIndex,
  }));
}

function addressOf(word: bigint): string {
  return `0x${word.toString(16).padStart(40, '0')}`;
}

/** Whole 32-byte words; none when the data has an odd length. */
function wordsOf(data: string): bigint[] {
  const digits = data.slice(2);
  if (digits.length % 64 !== 0) return [];
  return (digits.match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`));
}

/** The array that the word at `index` points to, null if it does not lie within the data. */
function arrayAt(words: bigint[], index: number): bigint[] | null {
  const start = Number((words[index] ?? -1n) / 32n);
  const length = Number(words[start] ?? -1n);
  if (start < 0 || length < 0 || start + 1 + length > words.length) return null;
  return words.slice(start + 1, start + 1 + length);
}

function tail(topic: string | undefined): string {
  return `0x${(topic ?? '').slice(-40)}`;
}
