/** The generator's own books against a recount of the JSON it wrote, by a small decoder that shares nothing with it. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import type { GeneratedBlock } from '../../src/bench/chain/block.ts';
import type { ExpectedResults } from '../../src/bench/chain/expected.ts';
import { generateChain } from '../../src/bench/chain/generate.ts';

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

suite('the expected results of a generated chain', () => {
  let blocks: GeneratedBlock[];
  let expected: ExpectedResults;
  let rows: Row[];

  before(() => {
    const chain = generateChain({ blocks: 30, txPerBlock: 120, tokens: 40, wallets: 100 });
    blocks = [...chain.blocks];
    expected = chain.expected();
    rows = blocks.flatMap(decodeBlock);
  });

  test('cover every kind of thing that can happen', () => {
    const missing = Object.entries(expected.counts).filter(([, count]) => count === 0);
    assert.deepEqual(missing, []);
  });

  test('count what a recount of the JSON finds', () => {
    const of = (...kinds: string[]) => rows.filter(({ kind }) => kinds.includes(kind));
    const { counts } = expected;
    assert.equal(counts.native, of('native').length);
    assert.equal(counts.internal, of('internal').length);
    assert.equal(counts.erc20, of('erc20').length);
    assert.equal(counts.erc721, of('erc721').length);
    assert.equal(
      counts.erc1155Single,
      of('erc1155').filter(({ batchIndex }) => batchIndex === undefined).length,
    );
    assert.equal(
      counts.erc1155BatchRows,
      of('erc1155').filter(({ batchIndex }) => batchIndex !== undefined).length,
    );
    assert.equal(counts.erc20Zero, of('erc20').filter(({ amount }) => amount === 0n).length);
    assert.equal(counts.nativeSelf, of('native', 'internal').filter(({ from, to }) => from === to).length);
    assert.equal(counts.mintsErc20, of('erc20').filter(({ from }) => from === ZERO).length);
    assert.equal(counts.burnsErc1155, of('erc1155').filter(({ to }) => to === ZERO).length);
    const receipts = blocks.flatMap((block) => parseReceipts(block));
    assert.equal(counts.transactions, receipts.length);
    assert.equal(counts.failedTransactions, receipts.filter(({ status }) => status === '0x0').length);
    assert.equal(counts.contractCreations, receipts.filter(({ contractAddress }) => contractAddress).length);
    assert.equal(counts.logs, receipts.flatMap(({ logs }) => logs).length);
  });

  test('list every transfer of a block as the recount does', () => {
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
      const booked = block.transfers.map((row) => ({
        ...row,
        amount: BigInt(row.amount),
        tokenId: row.tokenId === undefined ? undefined : BigInt(row.tokenId),
      }));
      assert.deepEqual(plain(booked), plain(decodeBlock(block)));
    }
  });

  test('give the wallets the native sums and first funders of the recount', () => {
    const native = rows.filter(({ kind }) => kind === 'native' || kind === 'internal');
    assert.equal(expected.wallets.length, 20);
    for (const wallet of expected.wallets) {
      const incoming = native.filter(({ to }) => to === wallet.address);
      const outgoing = native.filter(({ from }) => from === wallet.address);
      const funding = incoming.find(({ kind, from }) => kind === 'native' && from !== wallet.address);
      assert.equal(wallet.nativeInWei, String(sum(incoming)));
      assert.equal(wallet.nativeOutWei, String(sum(outgoing)));
      assert.equal(wallet.firstDirectFunding?.txHash, funding?.hash);
    }
  });

  test('rank the holders of tokens as summed deltas do, also beyond 2^256', () => {
    assert.ok(expected.tokens.some(({ topHolders }) => BigInt(topHolders[0]?.balance ?? 0) >= 1n << 256n));
    for (const { token, topHolders, transferRows } of expected.tokens) {
      const moves = rows.filter((row) => row.token === token);
      const balances = new Map<string, bigint>();
      for (const { from, to, amount } of moves) {
        balances.set(from, (balances.get(from) ?? 0n) - amount);
        balances.set(to, (balances.get(to) ?? 0n) + amount);
      }
      assert.equal(transferRows, moves.length);
      const ranked = [...balances.values()]
        .filter((balance) => balance > 0n)
        .sort((a, b) => (a > b ? -1 : 1));
      assert.deepEqual(
        topHolders.map(({ balance }) => balance),
        ranked.slice(0, 20).map(String),
      );
      for (const { address, balance } of topHolders) assert.equal(balance, String(balances.get(address)));
    }
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

/** Whole 32-byte words; none when the data has an odd length. */
function wordsOf(data: string): bigint[] {
  const digits = data.slice(2);
  if (digits.length % 64 !== 0) return [];
  return (digits.match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`));
}

/** The array the word at `index` points to, null when it does not lie within the data. */
function arrayAt(words: bigint[], index: number): bigint[] | null {
  const start = Number((words[index] ?? -1n) / 32n);
  const length = Number(words[start] ?? -1n);
  if (start < 0 || length < 0 || start + 1 + length > words.length) return null;
  return words.slice(start + 1, start + 1 + length);
}

function tail(topic: string | undefined): string {
  return `0x${(topic ?? '').slice(-40)}`;
}

function sum(rows: Row[]): bigint {
  return rows.reduce((total, { amount }) => total + amount, 0n);
}
