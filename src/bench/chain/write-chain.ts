/** Writes a generated chain to files: the exchanges, and on request every transfer. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { blockLines, chainLines } from './exchanges.ts';
import { type GeneratedChain, generateChain } from './generate.ts';
import type { ChainOptions } from './options.ts';

const CHUNK_BYTES = 1 << 20;

export interface ChainFileOptions {
  /** Path without ending: `<out>.jsonl.gz`, `<out>.transfers.jsonl.gz`. */
  out: string;
  /** Write `<out>.jsonl` without compression. */
  plain: boolean;
  /** Also write one line per transfer, in chain order. */
  transfers: boolean;
  /** Compression level of the chain, 1 to 9. */
  level: number;
}

/** Resolves with the path of the chain when everything is on disk. */
export async function writeChain(options: Partial<ChainOptions>, file: ChainFileOptions): Promise<string> {
  const chain = generateChain(options);
  const path = `${file.out}.jsonl${file.plain ? '' : '.gz'}`;
  const transfers = file.transfers ? new PassThrough() : null;
  const compress = file.plain
    ? new PassThrough()
    : createGzip({ level: file.level, chunkSize: CHUNK_BYTES, memLevel: 9 });
  await Promise.all([
    pipeline(chainText(chain, transfers), compress, createWriteStream(path)),
    transfers &&
      pipeline(transfers, createGzip({ level: 1 }), createWriteStream(`${file.out}.transfers.jsonl.gz`)),
  ]);
  return path;
}

/** The chain's lines; the transfers of each block go to their own stream on the way. */
async function* chainText(chain: GeneratedChain, transfers: Writable | null): AsyncGenerator<string> {
  yield chainLines(chain.options.chainId);
  for (const block of chain.blocks) {
    yield blockLines(block);
    if (!transfers) continue;
    const rows = block.transfers.map((row) => `${JSON.stringify(row)}\n`).join('');
    if (!transfers.write(rows)) await once(transfers, 'drain');
  }
  transfers?.end();
}
