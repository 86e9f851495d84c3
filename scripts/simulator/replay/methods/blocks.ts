/** Methods about blocks, transactions and receipts. */
import { toQuantity } from '../../../../src/lib/hex.ts';
import type { StoredBlock } from '../blocks/block.ts';
import { resolveBlock, resolveNumber } from '../blocks/block-tag.ts';
import { methodNotFound } from '../rpc-error.ts';
import { jsonBytes } from '../rpc-json.ts';
import { type Methods, type NodeState, NULL_RESULT } from './method.ts';

export function blockMethods({ chain, reader, transactions, settings }: NodeState): Methods {
  const byNumber = (tag: unknown) => chain.byNumber(resolveNumber(chain, settings.finalizedLag, tag));
  const fullOrHashes = (block: StoredBlock | null, full: unknown) => {
    if (!block) return NULL_RESULT;
    return full ? reader.text(block, 'block') : reader.blockWithHashes(block);
  };
  return {
    eth_getBlockByNumber: ([tag, full]) => fullOrHashes(byNumber(tag), full),
    eth_getBlockByHash: ([hash, full]) => fullOrHashes(chain.byHash(String(hash)), full),
    eth_getBlockTransactionCountByNumber: ([tag]) => {
      const block = byNumber(tag);
      return block ? jsonBytes(toQuantity(reader.transactionHashes(block).length)) : NULL_RESULT;
    },
    eth_getBlockReceipts: ([param]) => {
      if (!settings.blockReceipts) throw methodNotFound();
      const block = resolveBlock(chain, settings.finalizedLag, param);
      return block ? reader.text(block, 'receipts') : NULL_RESULT;
    },
    eth_getTransactionReceipt: ([hash]) => {
      const location = transactions.find(hash);
      if (!location?.block.receipts) return NULL_RESULT;
      const receipts = reader.parsedReceipts(location.block);
      const receipt = receipts.find(({ transactionHash }) => transactionHash.toLowerCase() === location.hash);
      return receipt ? jsonBytes(receipt) : NULL_RESULT;
    },
    eth_getTransactionByHash: ([hash]) => {
      const location = transactions.find(hash);
      return location
        ? jsonBytes(reader.parsedBlock(location.block).transactions[location.index])
        : NULL_RESULT;
    },
  };
}
