/** Calling a contract without a transaction. */
import { toQuantity } from '../lib/hex.ts';
import type { Hex } from '../types.ts';
import type { RpcCall } from './client.ts';

/** Gas limit of a call: enough for a megabyte of text, and a bound for contracts that only burn gas. */
const GAS = toQuantity(10_000_000);

/** The `eth_call` of a contract with encoded `data`, at a block (a quantity) or the newest one. */
export function contractCall(to: string, data: string, block: Hex | 'latest'): RpcCall {
  return { method: 'eth_call', params: [{ to, data, gas: GAS }, block] };
}
