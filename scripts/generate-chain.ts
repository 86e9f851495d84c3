/** Writes a synthetic chain for the replay node, with the results that its index must give. See `--help`. */
import { stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CHAIN_DEFAULTS } from '../src/bench/chain/options.ts';
import { writeChain } from '../src/bench/chain/write-chain.ts';
import { formatBytes } from '../src/cli/format.ts';

const HELP = `generate-chain [options]
  --out PATH           PATH.jsonl.gz, PATH.expected.json (default synth)
  --blocks N           (${CHAIN_DEFAULTS.blocks}; every 97th is empty)
  --tx-per-block N     (${CHAIN_DEFAULTS.txPerBlock} on average, half to one and a half of it)
  --seed N             (${CHAIN_DEFAULTS.seed}) the same options give the same bytes
  --chain-id N         (${CHAIN_DEFAULTS.chainId})
  --start-block N      (${CHAIN_DEFAULTS.startBlock})
  --wallets N          (${CHAIN_DEFAULTS.wallets} at the start)
  --tokens N           (${CHAIN_DEFAULTS.tokens} ERC-20)
  --no-traces          no call trees
  --transfers          also PATH.transfers.jsonl.gz, one line per transfer
  --level N            gzip level (1)
  --plain              PATH.jsonl, not compressed`;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'synth' },
    blocks: { type: 'string' },
    'tx-per-block': { type: 'string' },
    seed: { type: 'string' },
    'chain-id': { type: 'string' },
    'start-block': { type: 'string' },
    wallets: { type: 'string' },
    tokens: { type: 'string' },
    'no-traces': { type: 'boolean', default: false },
    transfers: { type: 'boolean', default: false },
    level: { type: 'string', default: '1' },
    plain: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const startedAt = Date.now();

if (values.help) {
  console.log(HELP);
} else {
  const { expected, path } = await writeChain(
    {
      blocks: Number(values.blocks ?? CHAIN_DEFAULTS.blocks),
      txPerBlock: Number(values['tx-per-block'] ?? CHAIN_DEFAULTS.txPerBlock),
      seed: Number(values.seed ?? CHAIN_DEFAULTS.seed),
      chainId: Number(values['chain-id'] ?? CHAIN_DEFAULTS.chainId),
      startBlock: Number(values['start-block'] ?? CHAIN_DEFAULTS.startBlock),
      wallets: Number(values.wallets ?? CHAIN_DEFAULTS.wallets),
      tokens: Number(values.tokens ?? CHAIN_DEFAULTS.tokens),
      traces: !values['no-traces'],
    },
    { out: values.out, plain: values.plain, transfers: values.transfers, level: Number(values.level) },
  );
  const { blocks, transactions, logs } = expected.counts;
  const onDisk = (await stat(path)).size;
  console.log(
    `${path}: ${blocks} blocks, ${transactions} transactions, ${logs} logs, ` +
      `${formatBytes(expected.uncompressedBytes)} of JSON, ${formatBytes(onDisk)} on disk, ` +
      `${((Date.now() - startedAt) / 1000).toFixed(1)} s`,
  );
}
