/** A generated chain as a file of JSON-RPC exchanges, such as the replay node reads. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import type { ChainOptions } from '../../../scripts/simulator/chain/options.ts';
import { toQuantity } from '../../../src/lib/hex.ts';

/**
 * One exchange per line, `{"method":..,"params":[..],"result":..}`: first those that name the chain, then each block's.
 */
export function chainLines(options: Partial<ChainOptions>): string {
  const { blocks, options: chain } = generateChain(options);
  let lines =
    `{"method":"eth_chainId","params":[],"result":"${toQuantity(chain.chainId)}"}\n` +
    `{"method":"net_version","params":[],"result":"${chain.chainId}"}\n`;
  for (const { number, block, receipts, trace } of blocks) {
    const height = toQuantity(number);
    lines +=
      `{"method":"eth_getBlockByNumber","params":["${height}",true],"result":${block}}\n` +
      `{"method":"eth_getBlockReceipts","params":["${height}"],"result":${receipts}}\n` +
      `{"method":"debug_traceBlockByNumber","params":["${height}",{"tracer":"callTracer"}],"result":${trace}}\n`;
  }
  return lines;
}

/** Writes the chain to a file, compressed if it ends in `.gz`. Returns the path. */
export function writeChain(path: string, options: Partial<ChainOptions>): string {
  const lines = chainLines(options);
  writeFileSync(path, path.endsWith('.gz') ? gzipSync(lines) : lines);
  return path;
}
