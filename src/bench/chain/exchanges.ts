/** The file form of a chain: one JSON-RPC exchange per line, `{"method":..,"params":[..],"result":..}`. */
import { toQuantity } from '../../lib/hex.ts';
import type { GeneratedBlock } from './block.ts';

/** The lines that name the chain; they come first. */
export function chainLines(chainId: number): string {
  return (
    `{"method":"eth_chainId","params":[],"result":"${toQuantity(chainId)}"}\n` +
    `{"method":"net_version","params":[],"result":"${chainId}"}\n`
  );
}

/** The lines of one block: the block, its receipts and, where there are any, its call trees. */
export function blockLines({ number, block, receipts, trace }: Omit<GeneratedBlock, 'transfers'>): string {
  const height = toQuantity(number);
  const lines =
    `{"method":"eth_getBlockByNumber","params":["${height}",true],"result":${block}}\n` +
    `{"method":"eth_getBlockReceipts","params":["${height}"],"result":${receipts}}\n`;
  if (trace === null) return lines;
  return `${lines}{"method":"debug_traceBlockByNumber","params":["${height}",{"tracer":"callTracer"}],"result":${trace}}\n`;
}
