/** Methods about the node and its network. */
import { toQuantity } from '../../../../src/lib/hex.ts';
import { jsonBytes } from '../rpc-json.ts';
import type { Methods, NodeState } from './method.ts';

/** `chainId` is a quantity, `networkId` decimal. */
export function networkMethods({ chain, settings }: NodeState, chainId: string, networkId: string): Methods {
  return {
    eth_chainId: () => jsonBytes(chainId),
    net_version: () => jsonBytes(networkId),
    net_listening: () => jsonBytes(true),
    web3_clientVersion: () => jsonBytes(settings.clientVersion),
    eth_syncing: () => jsonBytes(false),
    eth_blockNumber: () => jsonBytes(toQuantity(chain.head)),
  };
}
