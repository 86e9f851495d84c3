/** Recorded blocks of eight chains, decoded by the rules of the first releases and by those of a new index. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { type BlockParts, decodeBlock } from '../../src/decode/block.ts';
import { type DecodeRules, decodeRules } from '../../src/decode/rules.ts';
import { completeRules, newRules } from '../../src/model/index-rules.ts';
import { recordedDataOrSkip } from '../support/nodes/recorded.ts';
import { rowsOf } from './plain.ts';

interface Exchange {
  method: string;
  params: unknown[];
  result: unknown;
}

/** The recorded blocks of a dataset and their chain id. */
function readBlocks(folder: string, dataset: string): { chainId: number; blocks: BlockParts[] } {
  const file = gunzipSync(readFileSync(join(folder, 'replay', `${dataset}.replay.jsonl.gz`))).toString();
  const exchanges = file
    .trim()
    .split('\n')
    .map((line): Exchange => JSON.parse(line));
  const chainId = Number(exchanges.find(({ method }) => method === 'eth_chainId')?.result);
  const byBlock = Map.groupBy(
    exchanges.filter(({ params }) => params.length > 0),
    ({ params }) => params[0],
  );
  const blocks = [...byBlock.values()].map((own): BlockParts => {
    const answer = (name: string) => own.find(({ method }) => method.startsWith(name))?.result;
    const trees = answer('debug_');
    return {
      block: answer('eth_getBlockByNumber'),
      receipts: answer('eth_getBlockReceipts'),
      traces: trees === undefined ? null : { form: 'tree', value: trees },
    };
  });
  return { chainId, blocks };
}

/** One line per transfer. */
function linesOf(blocks: readonly BlockParts[], rules: DecodeRules): string[] {
  const out = new BatchBuilder();
  const tolerance = { off: ['failed_index'] as const }; // Cronos numbers the logs of failed transactions
  for (const parts of blocks) decodeBlock(out, parts, { ...rules, tolerance });
  return rowsOf(out.finish(true)).map(({ kind, from, to, token, amount, id, logIndex }) =>
    [kind, from, to, token ?? '', amount, id ?? '', logIndex ?? ''].join(' '),
  );
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left <= 0;
  });
}

const KITTIES = '0x06012c8cf97bead5deae237070f9587f8e7a266d';
const WCRO = '0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23';
const DEPOSITOR = '0x2a99f24ee7970b7fe3fd0d093532d089c8a03bc3';
const ZERO = `0x${'0'.repeat(40)}`;

/** SHA-256 of the lines as the program decoded them before indexes recorded their rules, the first 16 digits. */
const BY_RULES_1: Record<string, string> = {
  'basegoerli-sparse-traced': 'ade284d28a376072',
  'cronos-sparse-notrace': 'ea11acacb03dce14',
  'eth-15000001-15000018': 'aa9b7539338b309c',
  'eth-17173049-17173050-notrace': '9434e083ec866cc3',
  'eth-17686110-17686121': 'bb7553a81ddcc76f',
  'eth-17686164': '711934ab25081697',
  'eth-sparse-notrace': 'eab7dd84f2337272',
  'eth-sparse-traced': 'ef9626cbd4514d11',
  'holesky-70951-notrace': '646dce6dc518591e',
  'monad-devnet-1-400-notrace': '1152ac73770277d3',
  'optimism-sparse-traced': '6ceb6e961badb7d1',
  'polygon-sparse-traced': 'b45f67b65ad8c4cf',
  'ropsten-sparse-traced': '3f89830a4a1f50d4',
  'tempo-17708868-notrace': 'cadc990650aeae50',
};

/** What rules 2 count otherwise, by dataset: the transfers that came, and those that went. */
const CHANGES: Record<string, { came: (string | RegExp)[]; went: string[] }> = {
  'eth-sparse-traced': {
    came: [
      'erc721 0xb1690c08e213a35ed9bab7b318de14420fb57d8c 0x48bf0f9c84d3e449c7b1cc09c95fcba1f8bb948c ' +
        `${KITTIES} 1 554985 44`,
    ],
    went: [],
  },
  'eth-sparse-notrace': {
    came: [
      'erc721 0xb1690c08e213a35ed9bab7b318de14420fb57d8c 0xcad82c65cac69a813720fbee04260d67ec728b2f ' +
        `${KITTIES} 1 23883 32`,
    ],
    went: [],
  },
  'basegoerli-sparse-traced': {
    came: [`native_direct ${ZERO} ${DEPOSITOR}  190000000000000000  `],
    went: [`native_direct ${DEPOSITOR} ${DEPOSITOR}  190000000000000000  `],
  },
  'cronos-sparse-notrace': {
    came: Array.from({ length: 6 }, () => new RegExp(`^erc20 (${ZERO} \\S+|\\S+ ${ZERO}) ${WCRO} `)),
    went: [],
  },
};

test('rules 1 decode recorded blocks as before, and rules 2 add only what they are for', (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  const datasets = readdirSync(join(folder, 'replay'))
    .filter((name) => !name.includes('rechained'))
    .map((name) => name.replace('.replay.jsonl.gz', ''));
  assert.ok(datasets.length >= 12);
  for (const dataset of datasets) {
    const { chainId, blocks } = readBlocks(folder, dataset);
    const sources = { chainId, monad: chainId === 20_143, configured: {} };
    const lists = { nativeContracts: [], unindexedErc20: [] };
    const first = completeRules({ version: 1, monad: null, wrappedNative: null, ...lists }, sources);
    const [before, after] = [first, newRules(sources)].map((rules) => linesOf(blocks, decodeRules(rules)));
    assert.ok(before !== undefined && after !== undefined);

    const digest = createHash('sha256').update(before.join('\n')).digest('hex');
    assert.equal(digest.slice(0, 16), BY_RULES_1[dataset], dataset);

    const { came, went } = CHANGES[dataset] ?? { came: [], went: [] };
    const added = without(after, before);
    assert.equal(added.length, came.length, `${dataset}: ${added.join('\n')}`);
    for (const [i, wanted] of came.entries())
      if (typeof wanted === 'string') assert.equal(added[i], wanted);
      else assert.match(added[i] ?? '', wanted);
    assert.deepEqual(without(before, after), went, dataset);
  }
});
