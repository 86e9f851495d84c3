/** Reading a block: from the bytes of the node's answers to columns of transfers. One thread, nothing else running. */
import { Bench } from 'tinybench';
import { grouped } from '../../cli/table.ts';
import { BatchBuilder } from '../../decode/batch.ts';
import { type BlockParts, decodeBlock } from '../../decode/block.ts';
import { FatalError } from '../../errors.ts';
import { parseBody } from '../../upstream/reply.ts';
import { generateChain } from '../chain/generate.ts';
import type { Figure, Table } from '../figure.ts';
import type { Stage } from '../stage/stage.ts';
import { RULES } from './load-steps.ts';

/** Average transactions of an ordinary and of a busy block. */
const SIZES = [160, 8_000];
/** Blocks generated before the one that is taken: at first a chain has no holders and so other transactions. */
const WARM_UP_BLOCKS = 20;

interface Answers {
  transfers: number;
  block: Buffer;
  receipts: Buffer;
  trace: Buffer;
}

export async function measureDecode({ options, log }: Stage): Promise<Table[]> {
  log('decode: parsing and decoding blocks');
  const figures: Figure[] = [];
  for (const size of SIZES) {
    const answers = generateAnswers(size);
    const parse = figure(`parse the JSON of a block of ${grouped(answers.transfers)} transfers`);
    const decode = figure(`decode a block of ${grouped(answers.transfers)} transfers`);
    for (let i = 0; i < options.repeat; i++) {
      const ms = await timeBlock(answers, options.quick);
      parse.samples.push(answers.transfers / (ms.parse / 1000));
      decode.samples.push(answers.transfers / (ms.decode / 1000));
    }
    figures.push(parse, decode);
  }
  return [{ title: 'Reading a block, one thread', layout: 'list', figures, notes: [] }];
}

function figure(name: string): Figure {
  return { name, unit: 'transfers/s', samples: [] };
}

function generateAnswers(txPerBlock: number): Answers {
  const chain = generateChain({ blocks: WARM_UP_BLOCKS + 1, txPerBlock: 200 });
  let count = 0;
  for (const block of chain.blocks) {
    if (++count === WARM_UP_BLOCKS) chain.resizeBlocks(txPerBlock, true);
    if (count <= WARM_UP_BLOCKS || block.trace === null) continue;
    const { transfers, block: header, receipts, trace } = block;
    return {
      transfers: transfers.length,
      block: Buffer.from(header),
      receipts: Buffer.from(receipts),
      trace: Buffer.from(trace),
    };
  }
  throw new Error('the generated chain came to its end');
}

/** Milliseconds for parsing and for decoding the block once. */
async function timeBlock(answers: Answers, quick: boolean): Promise<{ parse: number; decode: number }> {
  const bench = new Bench({ time: quick ? 60 : 1_000, warmupTime: quick ? 20 : 300, iterations: 3 });
  const parsed = parseAnswers(answers);
  bench.add('parse', () => void parseAnswers(answers));
  bench.add('decode', () => {
    const out = new BatchBuilder();
    decodeBlock(out, parsed, RULES);
    out.finish();
  });
  await bench.run();
  const medianOf = (name: string) => {
    const result = bench.getTask(name)?.result;
    if (result?.state !== 'completed') throw new FatalError(`timing "${name}" failed`);
    return result.latency.p50;
  };
  return { parse: medianOf('parse'), decode: medianOf('decode') };
}

function parseAnswers({ block, receipts, trace }: Answers): BlockParts {
  return {
    block: parseBody(block, 'block'),
    receipts: parseBody(receipts, 'receipts'),
    traces: { form: 'tree', value: parseBody(trace, 'trace') },
  };
}
