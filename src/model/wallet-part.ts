/**
 * A wallet's part in a transaction: by how much its balance of each asset changed, over all transfers of the
 * transaction. A refund or change therefore reduces what the wallet gave.
 *
 * Assets: the native coin, an ERC-20 token, an ERC-721 collection (counted in tokens), and each id of an ERC-1155
 * contract. Of a contract that logs both units and NFTs (ERC-404) the units count.
 */
import { isNativeKind, isSemiFungible, movesOne, TransferKind } from './transfer-kind.ts';

/** `PartTransfer.token` of the native coin. */
export const NATIVE = 0;

/** Most assets that an event lists of each side of an exchange: a transaction may move thousands. */
export const MAX_LISTED_ASSETS = 100;

/** A transfer by ids. Within one transaction equal ids mean equal addresses; what they refer to does not matter. */
export interface PartTransfer {
  from: number;
  to: number;
  kind: number;
  /** Positive, or NATIVE. */
  token: number;
  /** The ERC-1155 or ERC-721 token id, in one spelling. Read for ERC-1155 only. */
  tokenNumber: string;
  /** Base units; 1 for ERC-721. */
  amount: bigint;
}

/** The asset of a transfer. */
export type Asset = Pick<PartTransfer, 'kind' | 'token' | 'tokenNumber'>;

/** A positive amount of one asset. */
export interface AssetAmount extends Asset {
  amount: bigint;
}

/** The net changes of one wallet's balances. Add each transfer of the transaction that has the wallet on a side. */
export class WalletPart {
  private readonly wallet: number;
  /** Signed, in the order of each asset's first transfer. */
  private readonly changes = new Map<number | string, AssetAmount>();

  constructor(wallet: number) {
    this.wallet = wallet;
  }

  add({ from, to, kind, token, tokenNumber, amount }: PartTransfer): void {
    if (from === to || amount === 0n) return;
    this.change(to === this.wallet ? amount : -amount, kind, token, tokenNumber);
  }

  /** Adds to the balance of an asset. */
  change(signed: bigint, kind: number, token: number, tokenNumber: string): void {
    const key = assetKey({ kind, token, tokenNumber });
    const change = this.changes.get(key);
    if (change === undefined) this.changes.set(key, { kind, token, tokenNumber, amount: signed });
    else change.amount += signed;
  }

  /** What the wallet gave on balance. */
  given(): AssetAmount[] {
    const given: AssetAmount[] = [];
    for (const change of this.changes.values()) {
      const { kind, token, tokenNumber, amount } = change;
      if (amount < 0n && this.counts(change)) given.push({ kind, token, tokenNumber, amount: -amount });
    }
    return given;
  }

  /** What the wallet received on balance. */
  received(): AssetAmount[] {
    const received: AssetAmount[] = [];
    for (const change of this.changes.values())
      if (change.amount > 0n && this.counts(change)) received.push(change);
    return received;
  }

  /** By how much the wallet's balance of an asset changed. For an NFT of an ERC-404 contract, its balance of units. */
  changeOf(asset: Asset): bigint {
    const units = this.unitsBeside(asset);
    return (units ?? this.changes.get(assetKey(asset)))?.amount ?? 0n;
  }

  private counts(asset: Asset): boolean {
    return this.unitsBeside(asset) === undefined;
  }

  private unitsBeside({ kind, token, tokenNumber }: Asset): AssetAmount | undefined {
    if (!movesOne(kind)) return undefined;
    return this.changes.get(assetKey({ kind: TransferKind.erc20, token, tokenNumber }));
  }
}

function assetKey({ kind, token, tokenNumber }: Asset): number | string {
  if (isSemiFungible(kind)) return `${token} ${tokenNumber}`;
  return movesOne(kind) ? -token : token;
}

/** The part of a wallet in a transaction, from the transaction's transfers. */
export function partOf(wallet: number, transfers: Iterable<PartTransfer>): WalletPart {
  const part = new WalletPart(wallet);
  for (const transfer of transfers)
    if (transfer.from === wallet || transfer.to === wallet) part.add(transfer);
  return part;
}

/**
 * By how much transfers change a wallet's balance of a token, or of the native coin. Sums all ids of a contract.
 * `form`: the only kind of the token that counts, undefined for all.
 */
export function balanceChange(
  transfers: Iterable<PartTransfer>,
  wallet: number,
  token: number,
  form: number | undefined,
): bigint {
  let change = 0n;
  for (const { from, to, kind, token: moved, amount } of transfers) {
    const isAsset = token === NATIVE ? isNativeKind(kind) : moved === token;
    if (!isAsset || from === to || (form !== undefined && kind !== form)) continue;
    if (to === wallet) change += amount;
    else if (from === wallet) change -= amount;
  }
  return change;
}
