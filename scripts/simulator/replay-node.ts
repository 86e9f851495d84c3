/** A chain node that answers from recorded or generated blocks. See `--help`. */

import { formatBytes } from '../../src/cli/format.ts';
import { MAX_SEED, readOptions, refuse } from '../options.ts';
import { generateChain } from './chain/generate.ts';
import { CHAIN_DEFAULTS } from './chain/options.ts';
import { startReplayNode } from './replay/node.ts';
import { REPLAY_DEFAULTS } from './replay/options.ts';

const MIB = 1024 ** 2;
const MAX_COUNT = 1_000_000_000;
/** The longest timer that Node supports. */
const MAX_MS = 2 ** 31 - 1;

const { files, ...options } = readOptions(
  `Answers JSON-RPC over HTTP and WebSocket from recorded exchanges, one {"method","params","result"} a line.
Control methods: replay_setHead [n], replay_mine [k], replay_fork [n], replay_setLatency [ms], replay_stats [].
A GET answers the statistics.`,
  {
    generate: {
      kind: 'text',
      about: 'such as 2000x200: blocks x transactions to generate instead of reading files',
    },
    'generate-seed': { kind: 'whole', about: 'its seed', default: CHAIN_DEFAULTS.seed, range: [0, MAX_SEED] },
    'generate-trades': { kind: 'flag', about: 'wallets buy and sell as often as on real chains' },
    port: { kind: 'whole', about: '0 takes a free one', default: 8545, range: [0, 65_535] },
    host: { kind: 'text', about: 'address to listen on', default: REPLAY_DEFAULTS.host },
    'chain-id': { kind: 'whole', about: 'overrides the recorded one', range: [1, MAX_SEED] },
    'head-start': {
      kind: 'whole',
      about: 'first head: block N, or the N-th block when N is below the first',
      range: [0, MAX_COUNT],
    },
    'block-time': {
      kind: 'whole',
      about: 'milliseconds until the head moves a block ahead, 0 = never',
      default: REPLAY_DEFAULTS.blockTimeMs,
      range: [0, MAX_MS],
    },
    'latency-ms': {
      kind: 'whole',
      about: 'wait before each answer; a batch waits once',
      default: REPLAY_DEFAULTS.latencyMs,
      range: [0, MAX_MS],
    },
    'jitter-ms': {
      kind: 'whole',
      about: 'add a random wait of up to N',
      default: REPLAY_DEFAULTS.jitterMs,
      range: [0, MAX_MS],
    },
    'finalized-lag': {
      kind: 'whole',
      about: 'finalized = head - N, safe = head - 1',
      default: REPLAY_DEFAULTS.finalizedLag,
      range: [0, MAX_COUNT],
    },
    'max-log-range': {
      kind: 'whole',
      about: 'eth_getLogs: most blocks between the ends',
      default: REPLAY_DEFAULTS.maxLogRange,
      range: [0, MAX_COUNT],
    },
    'max-batch': {
      kind: 'whole',
      about: 'most calls in one batch',
      default: REPLAY_DEFAULTS.maxBatch,
      range: [0, MAX_COUNT],
    },
    'max-response': {
      kind: 'whole',
      about: 'most bytes in one answer, 0 = no limit',
      default: REPLAY_DEFAULTS.maxResponseBytes,
      range: [0, MAX_COUNT],
    },
    'no-trace': { kind: 'flag', about: 'the trace methods are not supported' },
    'no-block-receipts': { kind: 'flag', about: 'there is no eth_getBlockReceipts' },
    'reorg-every': {
      kind: 'whole',
      about: 'blocks n-D+1..n, n a multiple of N, are a fork until block n+1 comes; 0 = never',
      default: REPLAY_DEFAULTS.reorgEvery,
      range: [0, MAX_COUNT],
    },
    'reorg-depth': {
      kind: 'whole',
      about: 'the D of it',
      default: REPLAY_DEFAULTS.reorgDepth,
      range: [1, MAX_COUNT],
    },
    'error-rate': {
      kind: 'decimal',
      about: 'fraction of the calls answered with -32603 "overloaded, try again later"',
      default: REPLAY_DEFAULTS.errorRate,
      range: [0, 1],
    },
    seed: {
      kind: 'whole',
      about: 'of jitter and errors',
      default: REPLAY_DEFAULTS.seed,
      range: [0, MAX_SEED],
    },
    rechain: {
      kind: 'whole',
      about: 'renumber all blocks from N on and link them',
      range: [0, MAX_COUNT],
    },
    'mem-mb': {
      kind: 'whole',
      about: 'MiB of recorded text in memory; the rest is compressed in a temporary file',
      default: REPLAY_DEFAULTS.memoryBytes / MIB,
      range: [0, 1_000_000],
    },
    'client-version': {
      kind: 'text',
      about: 'answer to web3_clientVersion',
      default: REPLAY_DEFAULTS.clientVersion,
    },
  },
  '[FILE.jsonl[.gz] ...]',
);
if (files.length === 0 && options.generate === undefined) refuse('neither a file nor --generate');

try {
  await serve();
} catch (error) {
  console.error(`replay-node: ${(error as Error).message}`);
  process.exitCode = 1;
}

/** Prints one line with the node's URL, and serves until SIGINT or SIGTERM. */
async function serve(): Promise<void> {
  const startedAt = Date.now();
  const generated = options.generate === undefined ? null : generatedChain(options.generate);
  const chainId = options['chain-id'] ?? generated?.options.chainId;
  const node = await startReplayNode({
    files,
    ...(generated && { chain: generated.blocks }),
    ...(chainId !== undefined && { chainId }),
    ...(options['head-start'] !== undefined && { head: options['head-start'] }),
    ...(options.rechain !== undefined && { rechain: options.rechain }),
    host: options.host,
    port: options.port,
    blockTimeMs: options['block-time'],
    latencyMs: options['latency-ms'],
    jitterMs: options['jitter-ms'],
    finalizedLag: options['finalized-lag'],
    maxLogRange: options['max-log-range'],
    maxBatch: options['max-batch'],
    maxResponseBytes: options['max-response'],
    traces: !options['no-trace'],
    blockReceipts: !options['no-block-receipts'],
    reorgEvery: options['reorg-every'],
    reorgDepth: options['reorg-depth'],
    errorRate: options['error-rate'],
    seed: options.seed,
    memoryBytes: options['mem-mb'] * MIB,
    clientVersion: options['client-version'],
  });
  const { blocks, first, last, head, memoryBytes, spilledBytes } = node.stats();
  console.log(
    `replay-node on ${node.url} chain ${node.chainId}, ${blocks} blocks ${first}..${last}, head ${head}, ` +
      `loaded in ${Date.now() - startedAt} ms, ${formatBytes(memoryBytes)} in memory, ` +
      `${formatBytes(spilledBytes)} in a file`,
  );
  const stop = () => void node.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

function generatedChain(size: string) {
  const [, blocks, txPerBlock] =
    /^(\d+)x(\d+)$/.exec(size) ?? refuse(`--generate must be such as 2000x200, not "${size}"`);
  const chainId = options['chain-id'];
  return generateChain({
    blocks: Number(blocks),
    txPerBlock: Number(txPerBlock),
    seed: options['generate-seed'],
    trades: options['generate-trades'],
    ...(chainId !== undefined && { chainId }),
  });
}
