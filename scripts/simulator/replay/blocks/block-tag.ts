/** Resolves block parameters. */
import { quantityToNumber } from '../../../../src/lib/hex.ts';
import { isObject } from '../../../../src/lib/text.ts';
import { invalidParams } from '../rpc-error.ts';
import type { StoredBlock } from './block.ts';
import type { ReplayChain } from './chain.ts';

const HASH_LENGTH = 66;

/** The number of a tag or quantity. A missing one means `latest`. Throws an RpcError for anything else. */
export function resolveNumber(chain: ReplayChain, finalizedLag: number, tag: unknown): number {
  switch (tag ?? 'latest') {
    case 'latest':
    case 'pending':
      return chain.head;
    case 'safe':
      return numberBehindHead(chain, 1);
    case 'finalized':
      return numberBehindHead(chain, finalizedLag);
    case 'earliest':
      return chain.at(0)?.number ?? 0;
  }
  const number = quantityToNumber(tag);
  if (Number.isNaN(number)) throw invalidParams();
  return number;
}

function numberBehindHead(chain: ReplayChain, lag: number): number {
  return chain.at(Math.max(0, chain.headIndex - lag))?.number ?? 0;
}

/** The visible block of a tag, a quantity, a hash, or an EIP-1898 object. */
export function resolveBlock(chain: ReplayChain, finalizedLag: number, param: unknown): StoredBlock | null {
  if (isObject(param)) {
    if (param.blockHash !== undefined) return chain.byHash(String(param.blockHash));
    return chain.byNumber(resolveNumber(chain, finalizedLag, param.blockNumber));
  }
  if (typeof param === 'string' && param.length === HASH_LENGTH) return chain.byHash(param);
  return chain.byNumber(resolveNumber(chain, finalizedLag, param));
}
