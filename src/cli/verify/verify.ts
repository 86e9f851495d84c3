/** `atlas-node verify`: compares the index with the node. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { configuredLists, configuredTradeLists } from '../../config/configured-lists.ts';
import type { Config } from '../../config/parse-config.ts';
import { splitUrls } from '../../config/urls.ts';
import { FatalError } from '../../lib/errors.ts';
import type { Capabilities } from '../../model/index-status.ts';
import type { RpcClient } from '../../node/client.ts';
import type { BlockRange } from '../../store/block-gaps.ts';
import type { VerifyReport } from '../../verify/report.ts';
import { formatNumber } from '../format.ts';
import { addConfigOptions, addNotes, existingIndexPath } from '../options.ts';
import { waitForStopSignal } from '../signals.ts';
import { type StatusLine, statusLine } from '../terminal.ts';

/** Transfers per commit of a repair: small commits, so that progress is visible and memory stays low. */
const REPAIR_TRANSFERS = 50_000;

const EXAMPLES = `
Examples:
  $ atlas-node verify                      by samples; changes nothing
  $ atlas-node verify --sample 5000        the same with larger samples
  $ atlas-node verify --json | jq .tokens
  $ atlas-node verify --file               all of the file, without a node
  $ atlas-node verify --all                every block against the node
  $ atlas-node verify --repair             rebuild what is damaged
  $ atlas-node verify --repair 1200..1250  read these blocks again`;

const NOTES = [
  'The daemon may run during a verification, but not during a repair. The exit code is 1 if anything differs; each \
difference is listed. The column SHARE shows how much of the index each check covered.',
  'By default, samples are compared with the node; the report says how likely they would find 1 % of wrong blocks. \
--file needs no node: SQLite checks its pages, a checksum stored with each block covers its transfers and addresses, \
and all counters, balances and lists are recounted from the transfers. So it finds any changed byte.',
  "--all does what --file does and compares every block with the node: its hash, its time and each of its transfers. \
It proves the node's transactions and receipts by the roots in the headers, and says how many blocks it could not \
prove. It reads the whole chain, so it takes about as long as the backfill. When stopped, it saves its progress in \
index.db.verify beside the index, and the next run resumes there. So does the check of SQLite's pages in an index \
above 2 GiB, in index.db.verify-structure. Balances and native amounts at the head are still samples.",
  'A repair first looks for damage: everywhere, or given blocks, from the first of them on. A damaged index is \
rebuilt: blocks with a valid checksum come from the file, the others from the node. This takes about as long as a \
backfill without waiting for a node, and as much disk space as the index. The damaged file stays in place and marked \
until then, so a repair that was stopped or failed can be run again; "atlas-node start" refuses a marked file.',
  'Given blocks, a repair then compares them with the node. From the first differing block on, it rolls the index back \
and reindexes to the head, because ids and running sums of all later transfers depend on that block. Every block is \
linked to its parent by hash. If the repair is stopped early, the index ends at a lower block; "atlas-node start" \
indexes the rest. Blocks indexed without traces get their internal transfers if the node now has their traces.',
];

interface Options {
  sample?: number;
  file?: true;
  all?: true;
  /** True when given without a range. */
  repair?: true | BlockRange;
  json?: boolean;
}

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('compare the index with the node: blocks, transfers, counters, balances')
    .option('--sample <n>', 'wallets to recount; the other samples grow with it', parseSample)
    .option('--all', 'compare everything with the node; run it again to resume after a stop')
    .addOption(
      new Option('--file', 'check every byte of the file; needs no node').conflicts(['all', 'sample']),
    )
    .addOption(
      new Option(
        '--repair [from..to]',
        'rebuild a damaged file; given blocks, read them from the node again and replace differing ones',
      )
        .argParser(parseRange)
        .conflicts(['all', 'sample', 'file']),
    )
    .option('--json', 'as JSON')
    .addHelpText('after', EXAMPLES);
  addNotes(command, ...NOTES);
  const load = addConfigOptions(command, ['--node-http', '--data-dir']);
  command.action(async (options: Options) => {
    const { config } = await load();
    const path = existingIndexPath(config.data_dir);
    if (options.file) return verifyFileAlone(path, options);
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
  const { UpstreamError } = await import('../../lib/errors.ts');
  const client = await firstNodeClient(config);
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

/** A client of the first configured node that answers, or of the last one. */
async function firstNodeClient({ node, node_http, node_traces }: Config): Promise<RpcClient> {
  const { RpcClient } = await import('../../node/client.ts');
  const { fetchChainId } = await import('../../node/methods.ts');
  const { setNodeHeaders } = await import('../../node/request-headers.ts');
  setNodeHeaders(node.headers);
  const { timeout_ms: timeoutMs, max_sockets: maxSockets, batch: maxBatch } = node;
  const [last = '', ...before] = splitUrls(node_http).reverse();
  const open = (url: string) =>
    new RpcClient({ url, tracesUrl: node_traces, timeoutMs, maxSockets, maxBatch });
  for (const url of before.reverse()) {
    const client = open(url);
    if (await fetchChainId(client).then(Boolean, () => false)) return client;
    await client.close();
  }
  return open(last);
}

async function verifyFileAlone(path: string, options: Options): Promise<void> {
  const { verifyIndex } = await import('../../verify/verify.ts');
  const { FILE_SCOPE } = await import('../../verify/scope.ts');
  const { rejectForeignWal } = await import('../../store/wal.ts');
  rejectForeignWal(path);
  const line = statusLine();
  try {
    const report = await verifyIndex({
      path,
      scope: FILE_SCOPE,
      node: null,
      signal: new AbortController().signal,
      onProgress: (text) => line.show(`verifying: ${text}`),
    });
    line.clear();
    await conclude(report, options);
  } finally {
    line.clear();
  }
}

/** Prints a report. Throws FatalError if anything differs or is unknown. */
async function conclude(report: VerifyReport, { json }: Options): Promise<void> {
  const { verifyText } = await import('./verify-text.ts');
  console.log(json ? JSON.stringify(report, null, 2) : verifyText(report));
  if (report.differences > 0)
    throw new FatalError(`the index differs in ${formatNumber(report.differences)} places, named above`);
  if (report.unfinished.length > 0)
    throw new FatalError(
      `the node failed during the check of ${report.unfinished.join(', ')} (see above): verify again when it works`,
    );
}

async function verify(
  config: Config,
  path: string,
  client: RpcClient,
  options: Options,
  line: StatusLine,
): Promise<void> {
  const { verifyIndex } = await import('../../verify/verify.ts');
  const { DEFAULT_SAMPLE, fullScope, sampleScope } = await import('../../verify/scope.ts');
  const { rejectForeignWal } = await import('../../store/wal.ts');
  rejectForeignWal(path);
  const capabilities = await probe(config, client);
  const stop = new AbortController();
  if (options.all) void waitForStopSignal().then(() => stop.abort(new FatalError('stopped')));
  const report = await verifyIndex({
    path,
    scope: (options.all ? fullScope : sampleScope)(options.sample ?? DEFAULT_SAMPLE, Math.random),
    node: { client, capabilities, configured: configuredLists(config) },
    signal: stop.signal,
    onProgress: (text) => line.show(`verifying: ${text}`),
  });
  line.clear();
  await conclude(report, options);
}

async function repair(
  config: Config,
  path: string,
  client: RpcClient,
  repaired: true | BlockRange,
  line: StatusLine,
): Promise<void> {
  const { repairRange } = await import('../../verify/repair.ts');
  const { finalityOf } = await import('../../model/finality.ts');
  const capabilities = await probe(config, client);
  const stop = new AbortController();
  void waitForStopSignal().then(() => stop.abort(new FatalError('stopped before any block was replaced')));
  const { differing, replacedFrom, rebuilt, head } = await repairRange({
    path,
    client,
    capabilities,
    configured: configuredLists(config),
    configuredTrades: configuredTradeLists(config),
    finality: finalityOf(config.chain.finality, capabilities),
    range: repaired === true ? null : repaired,
    cacheMb: config.index.cache_mb,
    batchTransfers: Math.min(config.index.batch_transfers, REPAIR_TRANSFERS),
    maxReorg: config.index.max_reorg,
    signal: stop.signal,
    onProgress: (text) => line.show(text),
  });
  line.clear();
  if (capabilities.traces === null)
    console.log(`read without traces, so without internal transfers: ${capabilities.tracesReason}`);
  for (const text of differing) console.log(`differed: ${text}`);
  if (rebuilt)
    console.log('the index was damaged: it was rebuilt from its own blocks and from changed ones read again');
  else if (replacedFrom === null && differing.length > 0)
    console.log('what is listed was set again; no block was');
  else if (replacedFrom === null && repaired === true) console.log('no damage found: nothing to repair');
  else if (replacedFrom === null && repaired !== true)
    console.log(
      `blocks ${formatNumber(repaired.first)} to ${formatNumber(repaired.last)} equal the node's: nothing to repair`,
    );
  if (replacedFrom !== null)
    console.log(
      `blocks ${formatNumber(replacedFrom)} to ${formatNumber(head.number)} were indexed again; the last ` +
        `one is ${head.hash}`,
    );
}

async function probe({ index, chain }: Config, client: RpcClient): Promise<Capabilities> {
  const { probeCapabilities } = await import('../../node/capabilities.ts');
  const { traces, head } = index;
  return probeCapabilities(client, { traces, head, finality: chain.finality });
}

function parseSample(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text))
    throw new InvalidArgumentError('It must be a number from 1 to 9,999,999.');
  return Number(text);
}

function parseRange(text: string): BlockRange {
  const [from, to] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(text)?.slice(1).map(Number) ?? [];
  if (from === undefined || to === undefined || from > to)
    throw new InvalidArgumentError('It must be two block numbers, the lower one first, such as 1200..1250.');
  return { first: from, last: to };
}
