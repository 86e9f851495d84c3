/** Reads balances and supplies from token contracts. A malformed answer counts as missing. */

import type { Hex } from '../lib/hex.ts';
import { toQuantity } from '../lib/hex.ts';
import { ZERO_ADDRESS } from '../model/address.ts';
import type { RpcCall, RpcReply } from '../node/client.ts';
import { contractCall } from '../node/methods.ts';
import { isBusy, isExecutionFailure } from '../node/node-errors.ts';

const BALANCE_OF = '0x70a08231';
const BALANCE_OF_ID = '0x00fdd58e';
const TOTAL_SUPPLY = '0x18160ddd';

/** `balanceOf(address)` of ERC-20 and ERC-721 at a block. */
export function balanceCall(token: Hex, owner: Hex, block: number): RpcCall {
  return contractCall(token, BALANCE_OF + addressWord(owner), toQuantity(block));
}

/** `balanceOf(address,uint256)` of ERC-1155 at a block. */
export function idBalanceCall(token: Hex, owner: Hex, id: bigint, block: number): RpcCall {
  const data = BALANCE_OF_ID + addressWord(owner) + id.toString(16).padStart(64, '0');
  return contractCall(token, data, toQuantity(block));
}

export function supplyCall(token: Hex, block: number): RpcCall {
  return contractCall(token, TOTAL_SUPPLY, toQuantity(block));
}

/** A call that succeeds on every node that still has the state of the block. */
export function stateProbe(block: number): RpcCall {
  return { method: 'eth_getBalance', params: [ZERO_ADDRESS, toQuantity(block)] };
}

/**
 * Delay before a deviating balance is read again, milliseconds. While a node executes the next block it may answer with
 * the state after that block: under constant transactions anvil does so in one of a hundred reads.
 */
export const SETTLE_MS = 250;

/**
 * Whether the reply to an `eth_getBalance` shows that the node has the state of the block. Any error means no, because
 * nodes word it in too many ways. Throws the UpstreamError of a busy node, which may have the state.
 */
export function hasState(reply: RpcReply): reply is Extract<RpcReply, { result: unknown }> {
  if ('result' in reply) return true;
  if (isBusy(reply.error)) throw reply.error;
  return false;
}

function addressWord(address: Hex): string {
  return address.slice(2).padStart(64, '0');
}

/**
 * The first word of an answer; null when the contract failed or returned anything else. Throws the UpstreamError of a
 * node that did not run the call.
 */
export function decodeUint(reply: RpcReply): bigint | null {
  if ('error' in reply) {
    if (isExecutionFailure(reply.error)) return null;
    throw reply.error;
  }
  const { result } = reply;
  if (typeof result !== 'string' || !/^0x[0-9a-fA-F]{64,}$/.test(result)) return null;
  return BigInt(result.slice(0, 66));
}
