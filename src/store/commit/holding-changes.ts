/** The changes of a rollback step to token holdings, as records in one buffer (see wallet-states.ts). */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { EMPTY, hashOfNumbers, isOversized, SlotTable } from './slot-table.ts';
import type { WalletState } from './wallet-state.ts';
import { SUM_WORDS, WideSums } from './wide-sums.ts';

/** Offsets in a record, in units of 8 bytes. */
const TOKEN = 0;
const WALLET = 1;
/** The wallet's slot in WalletStates. */
const WALLET_SLOT = 2;
const TRANSFERS = 3;
const BALANCE = 4;
const RECORD = BALANCE + SUM_WORDS / 2;

const MIN_RECORDS = 256;

export class HoldingChanges {
  /** Balance changes; `balanceAt` locates each. */
  readonly sums = new WideSums();
  private numbers = new Float64Array(MIN_RECORDS * RECORD);
  private count = 0;
  private readonly table = new SlotTable();

  constructor() {
    this.sums.words = new Uint32Array(this.numbers.buffer);
  }

  /** Starts a new commit. */
  reset(): void {
    if (isOversized(this.numbers.length / RECORD, this.count)) this.resize(MIN_RECORDS);
    this.numbers.fill(0, 0, Math.min(this.count * RECORD, this.numbers.length));
    this.count = 0;
    this.sums.reset();
    this.table.clear();
  }

  /** Adds `transfers` to a wallet's holding of a token and returns the record. Change its balance through `sums`. */
  change(token: number, wallet: WalletState, transfers: number): number {
    const holding = this.findOrAdd(token, wallet);
    this.numbers[holding * RECORD + TRANSFERS]! += transfers;
    return holding;
  }

  /** All changes, ordered by token, then wallet. */
  inOrder(): Uint32Array {
    return ascendingOrder(this.column(TOKEN), ascendingOrder(this.column(WALLET)));
  }

  tokenOf(holding: number): number {
    return this.numbers[holding * RECORD + TOKEN]!;
  }

  walletSlotOf(holding: number): number {
    return this.numbers[holding * RECORD + WALLET_SLOT]!;
  }

  transfersOf(holding: number): number {
    return this.numbers[holding * RECORD + TRANSFERS]!;
  }

  /** Position in `sums` of a holding's balance change. */
  balanceAt(holding: number): number {
    return (holding * RECORD + BALANCE) * 2;
  }

  private findOrAdd(token: number, wallet: WalletState): number {
    const { id } = wallet;
    const { table, numbers } = this;
    let place = table.placeOf(hashOfNumbers(token, id));
    for (let holding = table.slotAt(place); holding !== EMPTY; holding = table.slotAt(place)) {
      const at = holding * RECORD;
      if (numbers[at + WALLET] === id && numbers[at + TOKEN] === token) return holding;
      place = table.after(place);
    }
    return this.add(place, token, wallet);
  }

  private add(place: number, token: number, wallet: WalletState): number {
    const holding = this.count++;
    if (this.count * RECORD > this.numbers.length) this.resize(Math.ceil(holding * 1.5));
    const at = holding * RECORD;
    this.numbers[at + TOKEN] = token;
    this.numbers[at + WALLET] = wallet.id;
    this.numbers[at + WALLET_SLOT] = wallet.slot;
    this.table.put(place, holding, this.hashOf);
    return holding;
  }

  private readonly hashOf = (holding: number): number =>
    hashOfNumbers(this.tokenOf(holding), this.numbers[holding * RECORD + WALLET]!);

  private column(field: number): Float64Array {
    const values = new Float64Array(this.count);
    for (let i = 0; i < this.count; i++) values[i] = this.numbers[i * RECORD + field]!;
    return values;
  }

  private resize(records: number): void {
    const buffer = this.numbers.buffer.transfer(records * RECORD * 8);
    this.numbers = new Float64Array(buffer);
    this.sums.words = new Uint32Array(buffer);
  }
}
