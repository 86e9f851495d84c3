/** The correct answers as of any block, derived from a generated chain. */

import { group } from '../../../test/support/model/transfer-model.ts';
import type { GeneratedBlock } from '../../simulator/chain/block.ts';
import type { HttpAnswer, RpcAnswer } from './clients.ts';

/** The transfers of one wallet, oldest first. */
type History = { block: number; hash: string }[];

/** Transfers per page of address_transfers. */
const PAGE = 20;

export class ExpectedAnswers {
  readonly wallets: string[];
  private readonly hashes: Map<number, string>;
  private readonly histories: Map<string, History>;

  constructor(blocks: readonly GeneratedBlock[]) {
    this.hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
    const transfers = blocks.flatMap((block) => block.transfers);
    this.histories = group(transfers, ({ from, to }) => new Set([from, to]));
    this.wallets = [...this.histories.keys()].filter((wallet) => !/^0x0+$/.test(wallet));
  }

  /** Blocks after `above` up to `upTo` in which the wallet has transfers, one entry per transfer. */
  blocksOf(wallet: string, above: number, upTo: number): number[] {
    return this.historyOf(wallet).flatMap(({ block }) => (block > above && block <= upTo ? block : []));
  }

  /** The path that requests a wallet's transfers. */
  pathOf(wallet: string): string {
    return `/api/address_transfers?address=${wallet}&limit=${PAGE}&include_internal=true`;
  }

  /** What is wrong with a wallet's newest transfers as of the answer's block, or null. */
  checkTransfers(wallet: string, { block, body }: HttpAnswer): string | null {
    const { transfers } = body as { transfers: { txHash: string; blockNumber: number }[] };
    const received = transfers.map(({ txHash, blockNumber }) => `${blockNumber} ${txHash}`);
    const history = this.historyOf(wallet);
    let end = history.length;
    while (end > 0 && history[end - 1]!.block > block) end--;
    const wanted = history.slice(Math.max(0, end - PAGE), end).reverse();
    const same = received.join() === wanted.map((one) => `${one.block} ${one.hash}`).join();
    return same ? null : `the transfers of ${wallet} as of block ${block} are wrong`;
  }

  /** What is wrong with a returned block, or null. */
  checkBlock(number: number, { result, error }: RpcAnswer): string | null {
    const hash = (result as { hash?: string } | null | undefined)?.hash;
    if (hash === this.hashes.get(number)) return null;
    return `block ${number} has the hash ${hash} (${error?.message ?? 'no error'})`;
  }

  private historyOf(wallet: string): History {
    return this.histories.get(wallet) ?? [];
  }
}
