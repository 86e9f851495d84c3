/** How blocks are loaded, depending on the chain and the node. */
import { WRAPPED_NATIVE } from '../decode/topics.ts';
import type { Capabilities } from '../types.ts';
import type { LoadRules } from './load-blocks.ts';

/** Mainnet, testnet and devnet: a replay or a proxy serves their blocks too but does not call itself `Monad/`. */
const MONAD_CHAINS = new Set([143, 10143, 20143]);

/** `extraWrapped` are wrapped native contracts beyond those known for the chain. */
export function deriveLoadRules(capabilities: Capabilities, extraWrapped: readonly string[]): LoadRules {
  const known = WRAPPED_NATIVE[capabilities.chainId] ?? [];
  return {
    traces: capabilities.traces,
    blockReceipts: capabilities.blockReceipts,
    monad: capabilities.client.startsWith('Monad/') || MONAD_CHAINS.has(capabilities.chainId),
    wrappedNative: new Set([...known, ...extraWrapped.map((address) => address.toLowerCase())]),
  };
}
