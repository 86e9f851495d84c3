/**
 * A writer on a node that misbehaves at random, over a chain that grows and is reorganised. In the end the index must
 * be correct.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import { startReplayNode } from '../../../scripts/simulator/replay/node.ts';
import { CleanupStack } from '../../../src/lib/cleanup-stack.ts';
import { randomSource } from '../chain/random-chain.ts';
import type { Cleanup } from '../cleanup.ts';
import { buildIndex } from '../index/build-index.ts';
import { dumpIndex } from '../index/dump.ts';
import { startIndexerThread } from '../index/indexer.ts';
import type { BatchOrder, Wire } from '../nodes/corrupt-responses.ts';
import { type Faults, type NodeCall, startMisbehavingNode } from '../nodes/misbehaving-node.ts';
import { waitFor } from '../wait.ts';

interface FaultRunOptions {
  seed: number;
  /** Number of events: blocks, reorgs, faults. */
  steps: number;
  /** Whether a fault may last until the next one; otherwise it ends after a few requests. */
  lasting: boolean;
  /** Folders for the index under test and for a fresh one. */
  dirs: [string, string];
}

interface FaultRunResult {
  /** All rows of the index under test, and of one built from the node's final chain. */
  actual: string[];
  fresh: string[];
  rollbacks: number;
  /** Each kind of fault, and how often it was on. */
  faults: Record<string, number>;
}

type Int = (below: number) => number;

const CHAIN_BLOCKS = 400;
const START_HEAD = 30;
/** Longest pause between two steps, and longest wait for the index to catch up before a reorg, milliseconds. */
const STEP_MS = 120;
const SETTLE_MS = 1_000;

export async function runFaults({ seed, steps, lasting, dirs }: FaultRunOptions): Promise<FaultRunResult> {
  const random = randomSource(seed * 2_654_435_761);
  const int: Int = (below) => Math.floor(random() * below);
  const chain = [
    ...generateChain({ seed, blocks: CHAIN_BLOCKS, txPerBlock: 8, wallets: 40, tokens: 10 }).blocks,
  ];
  const real = await startReplayNode({ chain, head: START_HEAD, finalizedLag: 128 });
  const node = await startMisbehavingNode({ upstream: real.url });
  const closers = new CleanupStack();
  const cleanup: Cleanup = { after: (close) => void closers.adopt(null, close) };
  const indexer = startIndexerThread(cleanup, {
    http: node.url,
    ws: node.wsUrl,
    dir: dirs[0],
    index: { batchTransfers: 200 },
    node: { timeoutMs: 250 },
  });
  const seen: Record<string, number> = {};
  try {
    await indexer.reaches(START_HEAD);
    let head = START_HEAD;
    for (let step = 0; step < steps && head < CHAIN_BLOCKS - 12; step++) {
      const settled = () => waitShortly(() => indexer.status().head?.number === head);
      head = await happen(int, head, real, settled, (faults, kind) => {
        node.misbehave({ ...faults, ...((!lasting || int(3) > 0) && { times: 1 + int(lasting ? 25 : 6) }) });
        seen[kind] = (seen[kind] ?? 0) + 1;
      });
      if (int(6) === 0) node.drop();
      await sleep(int(STEP_MS));
    }
    node.misbehave({});
    real.setHead(head);
    const last = await hashAt(real.url, head);
    await waitFor(() => indexer.status().head?.hash === last, {
      what: `the index to reach block ${head} (seed ${seed}): ${JSON.stringify(indexer.status())}`,
    });
    await indexer.client.stop();
    const fresh = await buildIndex({ url: real.url, dir: dirs[1], startBlock: 1 });
    const rollbacks = indexer.watermarks.filter(({ kind }) => kind === 'rolled-back').length;
    return { actual: dumpIndex(indexer.path), fresh: dumpIndex(fresh), rollbacks, faults: seen };
  } finally {
    await closers.close();
    await node.close();
    await real.close();
  }
}

/** Waits for the condition, but not for long. */
async function waitShortly(isSo: () => boolean): Promise<void> {
  for (let waited = 0; waited < SETTLE_MS && !isSo(); waited += 20) await sleep(20);
}

type Real = Awaited<ReturnType<typeof startReplayNode>>;

/** Triggers one event. Returns the head of the chain that must be indexed in the end. */
async function happen(
  int: Int,
  head: number,
  real: Real,
  settled: () => Promise<void>,
  misbehave: (faults: Partial<Faults>, kind: string) => void,
): Promise<number> {
  switch (int(8)) {
    case 0:
    case 1:
      return real.setHead(head + 1 + int(6));
    case 2: {
      const depth = 1 + int(int(3) === 0 ? 25 : 4);
      if (int(4) > 0) await settled(); // so that there is something to roll back
      real.fork(Math.max(2, head - depth + 1));
      return real.setHead(head + 1);
    }
    case 3:
      real.setHead(Math.max(1, head - int(30))); // a node that restarts its sync
      return head;
    case 4:
      real.setHead(head);
      misbehave({}, 'none');
      return head;
    default: {
      const { kind, faults } = randomFault(int);
      misbehave({ ...faults, delayMs: int(3) === 0 ? int(60) : 0 }, kind);
      return head;
    }
  }
}

const METHODS = [
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'debug_traceBlockByHash',
  'eth_blockNumber',
] as const;
const WIRES: Wire[] = [
  { kind: 'reset' },
  { kind: 'hang' },
  { kind: 'truncate', afterBytes: 700 },
  { kind: 'not-http' },
  { kind: 'wrong-length', by: 5 },
  { kind: 'wrong-length', by: -5 },
  { kind: 'body', status: 429, text: '{"error":"slow down"}', type: 'application/json' },
  { kind: 'body', status: 502, text: '<html>Bad gateway</html>' },
  { kind: 'body', status: 200, text: '{"jsonrpc":"2.0","id":1,"res' },
  { kind: 'body', status: 200, text: '[]' },
];
const ORDERS: BatchOrder[] = [
  'reversed',
  'first-twice',
  'last-missing',
  'unknown-id',
  'first-replaced-by-second',
];
const ERRORS = [
  { code: -32603, message: 'overloaded, try again later' },
  { code: -32005, message: 'limit exceeded' },
  { code: -32000, message: 'header not found' },
  { code: -32602, message: 'Block requested not found. Request might be querying historical state' },
];

/** Everything that the misbehaving node can do and a client can notice. */
function randomFault(int: Int): { kind: string; faults: Partial<Faults> } {
  const pick = <T>(list: readonly T[]): T => list[int(list.length)]!;
  const method = pick(METHODS);
  switch (int(8)) {
    case 0: {
      const wire = pick(WIRES);
      return { kind: `wire ${wire.kind}`, faults: { wire } };
    }
    case 1: {
      const order = pick(ORDERS);
      return { kind: `order ${order}`, faults: { order } };
    }
    case 2:
      return {
        kind: 'batch limit',
        faults: { maxBatch: 1 + int(5), refuseAs: pick(['object', 'first', { status: 400 }] as const) },
      };
    case 3:
      return {
        kind: 'size limit',
        faults: { maxBytes: 400 + int(20_000), tooLargeAs: pick(['object', 'rest'] as const) },
      };
    case 4:
      return { kind: `null ${method}`, faults: { nullFor: [method] } };
    case 5:
      return { kind: `error ${method}`, faults: { errorFor: { [method]: pick(ERRORS) } } };
    case 6:
      return {
        kind: 'heads',
        faults: {
          relay: pick([(text: string) => [text, text, text], () => [], (text: string) => [text.slice(3)]]),
        },
      };
    default: {
      const { kind, replace } = pick(LIES);
      return { kind, faults: { replace } };
    }
  }
}

type Replace = Faults['replace'];
const hash = (digit: string): string => `0x${digit.repeat(64)}`;
const asksFor = (method: string, params: readonly unknown[], wanted: NodeCall['method']): boolean =>
  method === wanted && params[1] !== false;
const blockLie =
  (change: (block: Record<string, unknown>) => object): Replace =>
  (method, params, result) =>
    asksFor(method, params, 'eth_getBlockByNumber') && result !== null
      ? change(result as Record<string, unknown>)
      : result;

/** Well-formed but untrue answers. */
const LIES: { kind: string; replace: Replace }[] = [
  { kind: 'another parent', replace: blockLie((block) => ({ ...block, parentHash: hash('8') })) },
  { kind: 'another hash', replace: blockLie((block) => ({ ...block, hash: hash('7') })) },
  { kind: 'another number', replace: blockLie((block) => ({ ...block, number: '0x1' })) },
  { kind: 'transactions missing', replace: blockLie((block) => ({ ...block, transactions: [] })) },
  {
    kind: 'head far ahead',
    replace: (method, params, result) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest'
        ? { ...(result as object), number: '0xffff' }
        : result,
  },
  {
    kind: 'receipts of another block',
    replace: (method, _params, result) =>
      method === 'eth_getBlockReceipts'
        ? (result as object[] | null)?.map((receipt) => ({ ...receipt, blockHash: hash('9') }))
        : result,
  },
  {
    kind: 'receipts missing',
    replace: (method, _params, result) =>
      method === 'eth_getBlockReceipts' ? (result as object[] | null)?.slice(1) : result,
  },
  {
    kind: 'traces in another order',
    replace: (method, _params, result) =>
      method === 'debug_traceBlockByHash' ? (result as object[] | null)?.toReversed() : result,
  },
  {
    kind: 'values that are no numbers',
    replace: blockLie((block) => ({ ...block, timestamp: 'yesterday' })),
  },
];

async function hashAt(url: string, number: number): Promise<string> {
  const params = [`0x${number.toString(16)}`, false];
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params });
  const response = await fetch(url, { method: 'POST', body });
  const { result } = (await response.json()) as { result: { hash: string } };
  return result.hash;
}
