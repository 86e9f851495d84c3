/** Decodes a block: from the bytes of the node's answers to columns of transfers. One thread, nothing else running. */
import { Bench } from 'tinybench';
import { formatNumber } from '../../../src/cli/format.ts';
import { BatchBuilder } from '../../../src/decode/batch.ts';
import { type BlockParts, decodeBlock } from '../../../src/decode/block.ts';
import { BLOCK_FIELDS, RECEIPTS_FIELDS, TRACE_FIELDS } from '../../../src/decode/decoded-fields.ts';
import { FatalError } from '../../../src/lib/errors.ts';
import { generateChain } from '../../simulator/chain/generate.ts';
import type { Figure, Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { LOAD_RULES, resultOf } from './load-steps.ts';

/** Average transactions of an ordinary and of a busy block. */
const SIZES = [160, 8_000];
/** Blocks generated before the measured one, because a new chain has no holders and so other transactions. */
const WARM_UP_BLOCKS = 20;

interface Answers {
  transfers: number;
  block: Buffer;
  receipts: Buffer;
  trace: Buffer;
}

export async function measureDecode({ options, log }: BenchContext): Promise<Table[]> {
  log('decode: reading blocks');
  const figures: Figure[] = [];
  for (const size of SIZES) {
    const answers = generateAnswers(size);
    const cut = figure(
      `cut what is read out of the JSON of a block of ${formatNumber(answers.transfers)} transfers`,
    );
    const decode = figure(`parse and decode that of a block of ${formatNumber(answers.transfers)} transfers`);
    for (let i = 0; i < options.repeat; i++) {
      const ms = await timeBlock(answers, options.quick);
      cut.samples.push(answers.transfers / (ms.cut / 1000));
      decode.samples.push(answers.transfers / (ms.decode / 1000));
    }
    figures.push(cut, decode);
  }
  return [{ title: 'Reading a block, one thread', layout: 'list', figures, notes: [] }];
}

function figure(name: string): Figure {
  return { name, unit: 'transfers/s', samples: [] };
}

function generateAnswers(txPerBlock: number): Answers {
  const chain = generateChain({ blocks: WARM_UP_BLOCKS + 1, txPerBlock: 200, trades: true });
  let count = 0;
  for (const block of chain.blocks) {
    if (++count === WARM_UP_BLOCKS) chain.resizeBlocks(txPerBlock, true);
    if (count <= WARM_UP_BLOCKS || block.trace === null) continue;
    const { transfers, block: header, receipts, trace } = block;
    return {
      transfers: transfers.length,
      block: answerWith(header),
      receipts: answerWith(receipts),
      trace: answerWith(trace),
    };
  }
  throw new Error('the generated chain came to its end');
}

/** As sent by a node. */
function answerWith(result: Buffer | string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
}

/** Milliseconds to project and to decode the block once. */
async function timeBlock(answers: Answers, quick: boolean): Promise<{ cut: number; decode: number }> {
  const bench = new Bench({ time: quick ? 60 : 1_000, warmupTime: quick ? 20 : 300, iterations: 3 });
  const parts = cutAnswers(answers);
  bench.add('cut', () => void cutAnswers(answers));
  bench.add('decode', () => {
    const out = new BatchBuilder();
    decodeBlock(out, parts, LOAD_RULES);
    out.finish(true);
  });
  await bench.run();
  const medianOf = (name: string) => {
    const result = bench.getTask(name)?.result;
    if (result?.state !== 'completed') throw new FatalError(`timing "${name}" failed`);
    return result.latency.p50;
  };
  return { cut: medianOf('cut'), decode: medianOf('decode') };
}

/** Uses copies, because the text is overwritten. */
function cutAnswers({ block, receipts, trace }: Answers): BlockParts {
  return {
    block: resultOf(Buffer.from(block), 'block', BLOCK_FIELDS),
    receipts: resultOf(Buffer.from(receipts), 'receipts', RECEIPTS_FIELDS),
    traces: { form: 'tree', value: resultOf(Buffer.from(trace), 'trace', TRACE_FIELDS.tree) },
  };
}
