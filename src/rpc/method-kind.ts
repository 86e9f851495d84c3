/** What may be done with a call, by its method alone. */

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

/**
 * Whether a call changes nothing, so that it may be sent twice, or once for several clients. Of a method that is not
 * known the contrary is assumed.
 */
export function isRead(method: string): boolean {
  return READS.has(method) || READING.test(method);
}

const STEERING = /^(anvil|evm|hardhat)_/;

/** Whether a call may rewrite what was final; only a development chain has such methods. */
export function isSteering(method: string): boolean {
  return STEERING.test(method);
}
