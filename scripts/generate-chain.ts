/** Writes a synthetic chain for the replay node. See `--help`. */
import { stat } from 'node:fs/promises';
import { CHAIN_DEFAULTS } from '../src/bench/chain/options.ts';
import { writeChain } from '../src/bench/chain/write-chain.ts';
import { formatBytes } from '../src/cli/format.ts';
import { MAX_SEED, readOptions } from './options.ts';

const MAX_COUNT = 100_000_000;
const defaults = CHAIN_DEFAULTS;
const options = readOptions('Writes PATH.jsonl.gz. The same options give the same bytes.', {
  out: { kind: 'text', about: 'the PATH', default: 'synth' },
  blocks: { kind: 'whole', about: 'every 97th is empty', default: defaults.blocks, range: [1, MAX_COUNT] },
  'tx-per-block': {
    kind: 'whole',
    about: 'on average; a block has half to one and a half of it',
    default: defaults.txPerBlock,
    range: [1, 100_000],
  },
  seed: { kind: 'whole', about: 'of the chain', default: defaults.seed, range: [0, MAX_SEED] },
  'chain-id': { kind: 'whole', about: 'its number', default: defaults.chainId, range: [1, MAX_SEED] },
  'start-block': { kind: 'whole', about: 'the first', default: defaults.startBlock, range: [0, MAX_COUNT] },
  wallets: { kind: 'whole', about: 'at the start', default: defaults.wallets, range: [1, MAX_COUNT] },
  tokens: { kind: 'whole', about: 'ERC-20', default: defaults.tokens, range: [1, MAX_COUNT] },
  'no-traces': { kind: 'flag', about: 'no call trees' },
  transfers: { kind: 'flag', about: 'also PATH.transfers.jsonl.gz, one line per transfer' },
  level: { kind: 'whole', about: 'of gzip', default: 1, range: [1, 9] },
  plain: { kind: 'flag', about: 'PATH.jsonl, not compressed' },
});
const startedAt = Date.now();

const path = await writeChain(
  {
    blocks: options.blocks,
    txPerBlock: options['tx-per-block'],
    seed: options.seed,
    chainId: options['chain-id'],
    startBlock: options['start-block'],
    wallets: options.wallets,
    tokens: options.tokens,
    traces: !options['no-traces'],
  },
  { out: options.out, plain: options.plain, transfers: options.transfers, level: options.level },
);
const { size } = await stat(path);
console.log(`${path}: ${formatBytes(size)}, ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
