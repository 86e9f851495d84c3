/** The replay node as a process of its own. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { formatBytes } from '../../cli/format.ts';
import { type GeneratedChain, generateChain } from '../chain/generate.ts';
import { startReplayNode } from './node.ts';
import { REPLAY_DEFAULTS, type ReplayOptions } from './options.ts';

const HELP = `replay-node [FILE.jsonl[.gz] ...] [options]
Answers JSON-RPC over HTTP and WebSocket from recorded exchanges, one {"method","params","result"} a line.
  --generate BxT         generate B blocks of about T transactions instead of reading files
  --generate-seed N      its seed (1)
  --expected PATH        write what an index of the generated chain must show
  --port N               0 takes a free one (8545)
  --host H               (${REPLAY_DEFAULTS.host})
  --chain-id N           overrides the recorded one
  --head-start N         first head: block N, or the N-th block when N is below the first
  --block-time MS        move the head one block ahead every MS milliseconds
  --latency-ms N         wait before each answer; a batch waits once
  --jitter-ms N          add a random wait of up to N
  --finalized-lag N      finalized = head - N (${REPLAY_DEFAULTS.finalizedLag}), safe = head - 1
  --max-log-range N      eth_getLogs: most blocks between the ends (${REPLAY_DEFAULTS.maxLogRange})
  --max-batch N          most calls in one batch (${REPLAY_DEFAULTS.maxBatch})
  --max-response N       most bytes in one answer, 0 = no limit (${REPLAY_DEFAULTS.maxResponseBytes})
  --no-trace             the trace methods are not supported
  --no-block-receipts    there is no eth_getBlockReceipts
  --reorg-every K        blocks n-D+1..n (n a multiple of K) are a fork until block n+1 comes
  --reorg-depth D        (${REPLAY_DEFAULTS.reorgDepth})
  --error-rate P         answer a fraction P of the calls with -32603 "overloaded, try again later"
  --seed N               of jitter and errors (${REPLAY_DEFAULTS.seed})
  --rechain N            renumber all blocks from N on and link them
  --mem-mb N             recorded text held in memory, the rest compressed in a temporary file (${REPLAY_DEFAULTS.memoryBytes / 1048576})
  --client-version S     answer to web3_clientVersion (${REPLAY_DEFAULTS.clientVersion})
Control methods: replay_setHead [n], replay_mine [k], replay_fork [n], replay_setLatency [ms], replay_stats [].
A GET answers the statistics.`;

/** Starts the node, prints one line with its URL, and serves until SIGINT or SIGTERM. */
export async function runReplayNode(argv: string[]): Promise<void> {
  const { values, positionals: files } = parse(argv);
  if (values.help || (files.length === 0 && values.generate === undefined)) {
    console.log(HELP);
    return;
  }
  const startedAt = Date.now();
  const generated = values.generate === undefined ? null : generatedChain(values);
  const node = await startReplayNode({
    ...replayOptions(values),
    files,
    ...(generated && { chain: generated.blocks, chainId: generated.options.chainId }),
  });
  if (generated && values.expected) await writeFile(values.expected, JSON.stringify(generated.expected()));
  const { blocks, first, last, head, memoryBytes, spilledBytes } = node.stats();
  console.log(
    `replay-node on ${node.url} chain ${node.chainId}, ${blocks} blocks ${first}..${last}, head ${head}, ` +
      `loaded in ${Date.now() - startedAt} ms, ${formatBytes(memoryBytes)} in memory, ${formatBytes(spilledBytes)} in a file`,
  );
  const stop = () => void node.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

type Values = ReturnType<typeof parse>['values'];

function parse(argv: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  return parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      generate: text,
      'generate-seed': text,
      expected: text,
      port: text,
      host: text,
      'chain-id': text,
      'head-start': text,
      'block-time': text,
      'latency-ms': text,
      'jitter-ms': text,
      'finalized-lag': text,
      'max-log-range': text,
      'max-batch': text,
      'max-response': text,
      'no-trace': flag,
      'no-block-receipts': flag,
      'reorg-every': text,
      'reorg-depth': text,
      'error-rate': text,
      seed: text,
      rechain: text,
      'mem-mb': text,
      'client-version': text,
      help: flag,
    },
  });
}

function replayOptions(values: Values): ReplayOptions {
  const optional = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const number = (text: string | undefined, otherwise: number) => Number(text ?? otherwise);
  const defaults = REPLAY_DEFAULTS;
  return {
    host: values.host ?? defaults.host,
    port: number(values.port, 8545),
    chainId: optional(values['chain-id']),
    head: optional(values['head-start']),
    rechain: optional(values.rechain),
    blockTimeMs: number(values['block-time'], defaults.blockTimeMs),
    latencyMs: number(values['latency-ms'], defaults.latencyMs),
    jitterMs: number(values['jitter-ms'], defaults.jitterMs),
    finalizedLag: number(values['finalized-lag'], defaults.finalizedLag),
    maxLogRange: number(values['max-log-range'], defaults.maxLogRange),
    maxBatch: number(values['max-batch'], defaults.maxBatch),
    maxResponseBytes: number(values['max-response'], defaults.maxResponseBytes),
    traces: !values['no-trace'],
    blockReceipts: !values['no-block-receipts'],
    reorgEvery: number(values['reorg-every'], defaults.reorgEvery),
    reorgDepth: number(values['reorg-depth'], defaults.reorgDepth),
    errorRate: number(values['error-rate'], defaults.errorRate),
    seed: number(values.seed, defaults.seed),
    memoryBytes: number(values['mem-mb'], defaults.memoryBytes / 1048576) * 1048576,
    clientVersion: values['client-version'] ?? defaults.clientVersion,
  };
}

function generatedChain(values: Values): GeneratedChain {
  const size = /^(\d+)x(\d+)$/.exec(values.generate ?? '');
  if (!size)
    throw new Error(`--generate wants blocks x transactions, such as 2000x200, not ${values.generate}`);
  return generateChain({
    blocks: Number(size[1]),
    txPerBlock: Number(size[2]),
    seed: Number(values['generate-seed'] ?? 1),
    ...(values['chain-id'] !== undefined && { chainId: Number(values['chain-id']) }),
  });
}
