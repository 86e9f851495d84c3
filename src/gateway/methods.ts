/** How the gateway treats a call, judged by its method alone. */
import { detachString } from '../lib/text.ts';
import { type BlockKeyReader, blockKeyReader } from './cache-policy.ts';
import { isHeadMethod } from './head-cache.ts';

/** Methods with their own metrics label, and exact names in the policy. */
export const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'eth_blobBaseFee',
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_fillTransaction',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getCode',
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_getLogs',
  'eth_getProof',
  'eth_getStorageAt',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_newBlockFilter',
  'eth_newFilter',
  'eth_sendRawTransaction',
  'eth_sendRawTransactionSync',
  'eth_simulateV1',
  'eth_syncing',
  'eth_uninstallFilter',
  'net_listening',
  'net_peerCount',
  'net_version',
  'web3_clientVersion',
  'web3_sha3',
]);

/** The method itself if well known, else its namespace or `other`. */
export function methodLabel(method: string): string {
  if (KNOWN_METHODS.has(method)) return method;
  if (method.startsWith('debug_')) return 'debug';
  if (method.startsWith('trace_')) return 'trace';
  return 'other';
}

export interface MethodKind {
  /** Changes nothing, so it may be repeated and merged. False for an unknown method. */
  isRead: boolean;
  /** May rewrite final blocks. Only development chains have such methods. */
  mayRewriteChain: boolean;
  /** Its answer may be in the head cache. */
  isHeadMethod: boolean;
  /** Finds the block that the answer depends on; null if answers must not be cached. */
  readBlockKey: BlockKeyReader | null;
}

/** Reads whose names do not start with `eth_get`. */
const READS = new Set([
  'eth_baseFee',
  'eth_blobBaseFee',
  'eth_blockNumber',
  'eth_call',
  'eth_callMany',
  'eth_chainId',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_fillTransaction',
  'eth_gasPrice',
  'eth_maxPriorityFeePerGas',
  'eth_protocolVersion',
  'eth_simulateV1',
  'eth_syncing',
  'net_listening',
  'net_peerCount',
  'net_version',
  'web3_clientVersion',
  'web3_sha3',
]);
const READING = /^(eth_get|trace_|debug_(trace|get|storageRange)|txpool_|ots_|erigon_get)/;
const CONTROLLING = /^(anvil|evm|hardhat)_/;

/** Clients choose method names, so the table must be bounded. */
const MAX_KINDS = 1_000;
const kinds = new Map<string, MethodKind>();

/** For permitted methods only, because it stores their names; call-dispatcher.ts bounds the length. */
export function methodKindOf(method: string): MethodKind {
  let kind = kinds.get(method);
  if (kind === undefined) {
    kind = {
      isRead: READS.has(method) || READING.test(method),
      mayRewriteChain: CONTROLLING.test(method),
      isHeadMethod: isHeadMethod(method),
      readBlockKey: blockKeyReader(method),
    };
    if (kinds.size < MAX_KINDS) kinds.set(detachString(method), kind);
  }
  return kind;
}
