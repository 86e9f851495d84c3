/** `index.check_roots`: blocks must match the roots in their headers, and headers their hashes. */

import { type JsonObject, readObject } from '../decode/read-json.ts';
import { settingName } from '../lib/setting-name.ts';
import type { RpcClient } from '../node/client.ts';
import { headerCall } from '../node/methods.ts';
import { isProvenHeader } from './header-hash.ts';

/**
 * Headers from this block on hash to their hashes; null while none is known to. Chains that changed their header format
 * did it once, so a later header that does not hash is a wrong answer.
 */
export interface HeaderProof {
  from: number | null;
}

type OnUnproven = (block: number, reason: string) => void;

export class RootCheck {
  private readonly proof: HeaderProof;
  private readonly onUnproven: OnUnproven;

  /** `onUnproven` receives the blocks whose roots cannot be computed. Lowers the proof to what it has seen. */
  constructor(proof: HeaderProof = { from: null }, onUnproven: OnUnproven = () => undefined) {
    this.proof = proof;
    this.onUnproven = onUnproven;
  }

  /** Throws WrongRootError for a block that contradicts its header, or whose header contradicts its hash. */
  async require(blocks: readonly { number: number; block: JsonObject; receipts: unknown }[]): Promise<void> {
    const { findWrongRoot, UnknownTypeError, UnprovenHeaderError, WrongRootError } = await import(
      './block-roots.ts'
    );
    for (const { number, block, receipts } of blocks) {
      try {
        const difference = await findWrongRoot(block, receipts);
        this.prove(number);
        if (difference !== null) throw new WrongRootError(number, difference);
      } catch (error) {
        if (!(error instanceof UnknownTypeError)) throw error;
        const { from } = this.proof;
        if (!(error instanceof UnprovenHeaderError)) this.prove(number);
        else if (from !== null && number > from)
          throw new WrongRootError(
            number,
            `its header does not hash to its hash, but that of block ${from} does; if a fork added header ` +
              `fields, update atlas-node or set ${settingName('index.check_roots')} = false`,
          );
        this.onUnproven(number, error.message);
      }
    }
  }

  private prove(block: number): void {
    this.proof.from = Math.min(this.proof.from ?? block, block);
  }
}

/** The lowest of these blocks whose header the node has and hashes to its hash. Rejects with UpstreamError. */
export async function findHeaderProof(
  client: Pick<RpcClient, 'batch'>,
  numbers: readonly number[],
  signal?: AbortSignal,
): Promise<HeaderProof> {
  const replies = await client.batch(numbers.map(headerCall), signal);
  let from: number | null = null;
  for (const [i, reply] of replies.entries()) {
    if ('error' in reply || reply.result === null) continue;
    if (await isProvenHeader(readObject(reply.result, 'block')))
      from = Math.min(from ?? numbers[i]!, numbers[i]!);
  }
  return { from };
}
