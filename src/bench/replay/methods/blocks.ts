/** Methods about blocks, transactions and receipts. */
import { toQuantity } from '../../../lib/hex.ts';
import type { StoredBlock } from '../block.ts';
import { resolveBlock, resolveNumber } from '../block-tag.ts';
import { methodNotFound } from '../rpc-error.ts';
import { jsonBytes } from '../rpc-json.ts';
import { type Methods, type NodeState, NULL_RESULT } from './method.ts';

export function blockMethods({ chain, reader, transactions, settings }: NodeState): Methods {
  const byNumber = (tag: unknown) => chain.byNumber(resolveNumber(chain, settings.finalizedLag, tag));
  const fullOrHashes = (block: StoredBlock | null, whole: unknown) => {
    if (!block) return NULL_RESULT;
    return whole ? reader.text(block, 'block') : reader.blockWithHashes(block);
  };
  return {
    eth_getBlockByNumber: ([tag, whole]) => fullOrHashes(byNumber(tag), whole),
    eth_getBlockByHash: ([hash, whole]) => fullOrHashes(chain.byHash(String(hash)), whole),
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
      const place = transactions.find(hash);
      if (!place?.block.receipts) return NULL_RESULT;
      const receipts = reader.parsedReceipts(place.block);
      const receipt = receipts.find(({ transactionHash }) => transactionHash.toLowerCase() === place.hash);
      return receipt ? jsonBytes(receipt) : NULL_RESULT;
    },
    eth_getTransactionByHash: ([hash]) => {
      const place = transactions.find(hash);
      return place ? jsonBytes(reader.parsedBlock(place.block).transactions[place.index]) : NULL_RESULT;
    },
  };
}
