/** What may be done with a call, judged by its method alone. */
import { detachString } from '../lib/detach-string.ts';
import { type DependenceReader, dependenceReader } from './block-dependence.ts';
import { mayBeLocal } from './local-answers.ts';

export interface MethodKind {
  /** It changes nothing, so it may be sent twice, or once for several clients. False for an unknown method. */
  isRead: boolean;
  /** It may rewrite final blocks; only development chains have such methods. */
  mayRewriteChain: boolean;
  /** LocalAnswers may have its answer. */
  mayBeLocal: boolean;
  /** Finds the block that the answer will depend on; null where answers must not be cached. */
  dependence: DependenceReader | null;
}

/** Reads whose names do not begin with `eth_get`. */
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

/** Clients choose the names of methods, so the table must not grow with them. */
const MAX_KINDS = 1_000;
const kinds = new Map<string, MethodKind>();

/** `method` is one that may be called: its name is kept, which is bounded (call-dispatcher.ts). */
export function methodKindOf(method: string): MethodKind {
  let kind = kinds.get(method);
  if (kind === undefined) {
    kind = {
      isRead: READS.has(method) || READING.test(method),
      mayRewriteChain: CONTROLLING.test(method),
      mayBeLocal: mayBeLocal(method),
      dependence: dependenceReader(method),
    };
    if (kinds.size < MAX_KINDS) kinds.set(detachString(method), kind);
  }
  return kind;
}
