/** `atlas-node verify`: compares the index with the node. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config.ts';
import { FatalError } from '../errors.ts';
import type { Capabilities } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { formatNumber } from './format.ts';
import { existingIndexPath } from './index-path.ts';
import { addConfigOptions, addNotes } from './options.ts';
import { waitForStopSignal } from './signals.ts';
import { type StatusLine, statusLine } from './terminal.ts';

const EXAMPLES = `
Examples:
  $ atlas-node verify                      by samples; changes nothing
  $ atlas-node verify --sample 5000        the same with larger samples
  $ atlas-node verify --json | jq .tokens
  $ atlas-node verify --repair 1200..1250  with the daemon stopped`;

const NOTES = [
  'The daemon may run meanwhile, except for a repair. Exit code 1 when something differs; each difference is named.',
  `A repair reads the range from the node, compares it, and if it differs rolls the index back to before the first \
block that does and indexes from there to the head again: ids and running sums of all later transfers depend on it, \
so the cost is that of indexing everything behind that block. Every block is tied to its hash and its parent's. \
Stopped before its end, it leaves an index that ends earlier: "atlas-node start" indexes the rest. Killed, it may have \
removed later blocks only: run it again. \
Of blocks that were indexed without traces it brings the internal transfers in, if the node has their traces now. \
What the disk changed in transfers that were already summed up it cannot mend: it says so at its end, and only \
indexing anew helps.`,
];

interface Options {
  sample?: number;
  repair?: [number, number];
  json?: boolean;
}

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('compare the index with the node: blocks, transfers, counters, balances')
    .option('--sample <n>', 'wallets to be recounted; the other samples grow with it', parseSample)
    .option('--repair <from..to>', 'read these blocks again and replace what differs', parseRange)
    .option('--json', 'as JSON')
    .addHelpText('after', EXAMPLES);
  addNotes(command, ...NOTES);
  const load = addConfigOptions(command, ['--node-http', '--data-dir']);
  command.action(async (options: Options) => {
    const { config } = await load();
    const path = existingIndexPath(config.data_dir);
    await withNodeClient(config, async (client, line) => {
      if (options.repair) await repair(config, path, client, options.repair, line);
      else await verify(config, path, client, options, line);
    });
  });
}

async function withNodeClient(
  config: Config,
  work: (client: RpcClient, line: StatusLine) => Promise<void>,
): Promise<void> {
  const { RpcClient } = await import('../upstream/client.ts');
  const { UpstreamError } = await import('../errors.ts');
  const client = new RpcClient({
    url: config.node_http,
    timeoutMs: config.node.timeout_ms,
    maxSockets: config.node.max_sockets,
    maxBatch: config.node.batch,
  });
  const line = statusLine();
  try {
    await work(client, line);
  } catch (error) {
    if (error instanceof UpstreamError)
      throw new FatalError(
        `the node gave no usable answer: ${error.message}; name a node that is running with --node-http`,
      );
    throw error;
  } finally {
    line.clear();
    await client.close();
  }
}

async function verify(
  config: Config,
  path: string,
  client: RpcClient,
  options: Options,
  line: StatusLine,
): Promise<void> {
  const { DEFAULT_SAMPLE, verifyIndex } = await import('../verify/verify.ts');
  const { rejectForeignWal } = await import('../store/foreign-wal.ts');
  rejectForeignWal(path);
  const capabilities = await probe(config, client);
  const report = await verifyIndex({
    path,
    client,
    capabilities,
    wrappedNative: config.chain.wrapped_native,
    sample: options.sample ?? DEFAULT_SAMPLE,
    random: Math.random,
    signal: new AbortController().signal,
    onProgress: (text) => line.show(`verifying: ${text}`),
  });
  line.clear();
  const { verifyText } = await import('./verify-text.ts');
  console.log(options.json ? JSON.stringify(report, null, 2) : verifyText(report));
  if (report.differences > 0)
    throw new FatalError(`the index differs in ${formatNumber(report.differences)} places, named above`);
  if (report.unfinished.length > 0)
    throw new FatalError(
      `the node failed the check of ${report.unfinished.join(', ')}, as told above: verify again when it is well`,
    );
}

async function repair(
  config: Config,
  path: string,
  client: RpcClient,
  [from, to]: [number, number],
  line: StatusLine,
): Promise<void> {
  const { repairRange } = await import('../verify/repair.ts');
  const capabilities = await probe(config, client);
  const stop = new AbortController();
  void waitForStopSignal().then(() => stop.abort(new FatalError('stopped before any block was replaced')));
  const { differing, replacedFrom, head } = await repairRange({
    path,
    client,
    capabilities,
    wrappedNative: config.chain.wrapped_native,
    from,
    to,
    cacheMb: config.index.cache_mb,
    batchTransfers: config.index.batch_transfers,
    signal: stop.signal,
    onProgress: (text) => line.show(text),
  });
  line.clear();
  if (capabilities.traces === null)
    console.log(`read without traces, so without internal transfers: ${capabilities.tracesReason}`);
  for (const text of differing) console.log(`differed: ${text}`);
  if (replacedFrom === null)
    console.log(`blocks ${formatNumber(from)} to ${formatNumber(to)} equal the node's: nothing to repair`);
  else
    console.log(
      `blocks ${formatNumber(replacedFrom)} to ${formatNumber(head.number)} were indexed again; the last one is ${head.hash}`,
    );
}

async function probe({ index: { traces, head } }: Config, client: RpcClient): Promise<Capabilities> {
  const { probeCapabilities } = await import('../upstream/probe.ts');
  return probeCapabilities(client, { traces, head });
}

function parseSample(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text))
    throw new InvalidArgumentError('It must be a number from 1 to 9,999,999.');
  return Number(text);
}

function parseRange(text: string): [number, number] {
  const [from, to] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(text)?.slice(1).map(Number) ?? [];
  if (from === undefined || to === undefined || from > to)
    throw new InvalidArgumentError('It must be two block numbers such as 1200..1250.');
  return [from, to];
}
