/**
 * One commit: its transfers, wallets and tokens, in the orders in which its rows are written. block-rows.ts,
 * holding-rows.ts and wallet-rows.ts write them.
 */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { type BlockBatch, packedHash } from '../../model/block-batch.ts';
import { isNativeKind, TransferKind } from '../../model/transfer-kind.ts';
import { type BlockEnd, EMPTY_INDEX, type Tip } from '../chain.ts';
import { ADDRESS_BYTES, ZERO_WALLET } from '../schema.ts';
import { ZoneMap } from '../zone-map.ts';
import { type NewAddress, resolveAddresses } from './address-resolver.ts';
import { type Buckets, CommitTransfers } from './commit-transfers.ts';
import { type CommitWallets, FundedBy } from './commit-wallets.ts';
import { type OnStep, ROWS_PER_STEP } from './on-step.ts';
import type { Tables } from './tables.ts';
import { TokenState } from './token-state.ts';

/** Rough heap size of a token, bytes. */
const TOKEN_BYTES = 250;
/** Rough heap size of a new wallet: its key and its first funding, bytes. */
const NEW_WALLET_BYTES = 100;

/** Only one exists at a time, because each reuses the memory of the previous one. */
export class Commit {
  readonly batches: readonly BlockBatch[];
  /** What the index holds before the commit. */
  readonly before: BlockEnd;
  /** transfers.id of the first transfer. */
  readonly firstTransfer: number;
  readonly wallets: CommitWallets;
  readonly transfers: CommitTransfers;
  /** How many wallets the commit has seen at the end of each block. */
  readonly slotEnds: Uint32Array;
  /** The tokens that move, in order of first appearance; CommitTransfers refers to them by position. */
  readonly tokens: TokenState[] = [];
  readonly onStep: OnStep;
  /** Parent hash of the index's first block, if the commit contains that block. */
  readonly firstParent: Uint8Array | null;
  readonly newAddresses: readonly NewAddress[];
  readonly zoneMap: ZoneMap;
  /** How many wallets a former funder no longer funds, by id: a direct funding replaced its internal one. */
  readonly unfunded = new Map<number, number>();
  /** Slots by ascending id. */
  readonly walletOrder: Uint32Array;
  readonly byWallet: Buckets;

  /** Reads from the file which wallets and tokens exist. `tip` is the last indexed block. */
  constructor(tables: Tables, batches: readonly BlockBatch[], tip: Tip | null, onStep: OnStep) {
    const [first] = batches;
    this.batches = batches;
    this.onStep = onStep;
    this.before = tip ?? EMPTY_INDEX;
    this.firstTransfer = this.before.lastTransfer + 1;
    this.firstParent = tip === null && first !== undefined ? packedHash(first.parent, 0) : null;
    this.wallets = tables.commitWallets;
    this.wallets.reset();
    this.transfers = new CommitTransfers(batches);
    this.slotEnds = this.addAddresses();
    this.wallets.allocateColumns();
    this.newAddresses = resolveAddresses(this.wallets, tables, this.before.lastWallet, onStep);
    this.zoneMap = new ZoneMap(tables.zoneMap);
    this.applyInOrder(tables);
    this.walletOrder = ascendingOrder(this.wallets.ids);
    this.byWallet = this.transfers.byWallet(this.wallets.count);
  }

  /** Memory used besides the batches, bytes. */
  get memoryBytes(): number {
    const { transfers, wallets, byWallet, tokens, newAddresses } = this;
    return (
      transfers.memoryBytes +
      wallets.memoryBytes +
      2 * byWallet.memoryBytes + // as much again by token
      tokens.length * TOKEN_BYTES +
      newAddresses.length * NEW_WALLET_BYTES
    );
  }

  /** Frees the memory that grows with the commit. */
  release(): void {
    this.transfers.release();
    this.byWallet.release();
    this.wallets.releaseColumns();
  }

  /** Adds all addresses and transfers of the batches. Returns the number of wallets at the end of each block. */
  private addAddresses(): Uint32Array {
    const { batches, wallets, transfers } = this;
    const slotEnds = new Uint32Array(batches.reduce((sum, { blockCount }) => sum + blockCount, 0));
    let block = 0;
    for (const batch of batches) {
      const slots = new Uint32Array(batch.addresses.length / ADDRESS_BYTES);
      for (let i = 0, address = 0; i < batch.blockCount; i++) {
        for (; address < batch.addressEnd[i]!; address++)
          slots[address] = wallets.slotOf(batch.addresses, address * ADDRESS_BYTES);
        slotEnds[block++] = wallets.count;
      }
      transfers.add(batch, slots);
      this.onStep();
    }
    return slotEnds;
  }

  /** Applies what depends on the order of the transfers of different wallets: tokens, fundings, peaks. */
  private applyInOrder(tables: Tables): void {
    const { transfers, wallets, firstTransfer } = this;
    const tokenAt = new Map<number, number>();
    let lastToken = tables.tokens.lastId();
    const addToken = (slot: number, id: number, kind: number): number => {
      const wallet = wallets.ids[slot]!;
      const token =
        tables.tokens.findByWallet(wallet) ??
        TokenState.create({ id: ++lastToken, wallet, first_transfer: id, kind });
      this.tokens.push(token);
      tokenAt.set(slot, this.tokens.length - 1);
      return this.tokens.length - 1;
    };
    for (let at = 0; at < transfers.count; at++) {
      if (at % ROWS_PER_STEP === 0) this.onStep();
      const id = firstTransfer + at;
      const kind = transfers.kind[at]!;
      if (isNativeKind(kind)) {
        this.zoneMap.record(id, transfers.amountAt(at));
        this.fund(at, id, kind === TransferKind.nativeDirect ? FundedBy.direct : FundedBy.internal);
        continue;
      }
      const slot = transfers.token[at]!;
      const position = tokenAt.get(slot) ?? addToken(slot, id, kind);
      transfers.token[at] = position;
      const token = this.tokens[position]!;
      token.transfers++;
    }
  }

  /**
   * Records that a native transfer funds its receiver, unless an earlier one does. Self-transfers and mints fund
   * nobody.
   */
  private fund(at: number, id: number, by: number): void {
    const { wallets, unfunded } = this;
    const sender = this.transfers.sender[at]!;
    const receiver = this.transfers.receiver[at]!;
    const before = wallets.fundedBy[receiver]!;
    if (before === FundedBy.direct || (before === FundedBy.internal && by === FundedBy.internal)) return;
    if (sender === receiver || wallets.ids[sender] === ZERO_WALLET) return;
    if (before === FundedBy.internal) {
      const funder = wallets.funders[receiver]!;
      unfunded.set(funder, (unfunded.get(funder) ?? 0) + 1);
    }
    wallets.fundedBy[receiver] = by;
    wallets.funders[receiver] = wallets.ids[sender]!;
    wallets.fundings[receiver] = id;
    wallets.funded[sender]!++;
  }
}
