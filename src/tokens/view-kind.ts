/**
 * Finds tokens whose logs have the form of another standard: NFTs that log their ids as an ERC-20 logs amounts, and
 * ERC-20 tokens that log their amounts as an ERC-721 logs ids. Only contracts that return odd decimals are asked.
 */
import type { Hex } from '../lib/hex.ts';
import { TransferKind, type ViewKind } from '../model/transfer-kind.ts';
import type { RpcCall } from '../node/client.ts';
import { contractCall } from '../node/methods.ts';
import { decodeWord } from './metadata-calls.ts';

const SUPPORTS_INTERFACE = '0x01ffc9a7';
const ERC721_ID = '80ac58cd';
/** ERC-165: no contract supports this one, but some answer true to everything. */
const NO_ID = 'ffffffff';

/** `isApprovedForAll` of the zero address: all NFTs answer it, ERC-404 too, which know no interface ids. */
const IS_APPROVED_FOR_ALL = `0xe985e9c5${'0'.repeat(128)}`;

/** Whether the contract must be asked: an ERC-20 by its logs has no decimals, or an ERC-721 has some. */
export function needsViewCalls({ kind, decimals }: { kind: number; decimals: number | null }): boolean {
  if (kind === TransferKind.erc20) return !decimals;
  return kind === TransferKind.erc721 && decimals !== null && decimals > 0;
}

export function viewCalls({ address }: { address: Hex }): RpcCall[] {
  const asks = [ERC721_ID, NO_ID].map((id) => SUPPORTS_INTERFACE + id.padEnd(64, '0'));
  return [...asks, IS_APPROVED_FOR_ALL].map((data) => contractCall(address, data, 'latest'));
}

/**
 * The view kind of a token whose first transfer has `kind`, by the results of `viewCalls`, undefined for a call that
 * failed. `logsUnits`: whether an ERC-721 by its logs also logs as an ERC-20, so that its ids are ids (ERC-404).
 */
export function decideViewKind(
  kind: number,
  [erc721, anything, approval]: readonly unknown[],
  logsUnits: () => boolean,
): ViewKind {
  const isNft = decodeWord(erc721) === 1n && decodeWord(anything) !== 1n;
  if (kind === TransferKind.erc20) return isNft ? TransferKind.erc721 : null;
  return isNft || decodeWord(approval) !== null || logsUnits() ? null : TransferKind.erc20;
}
