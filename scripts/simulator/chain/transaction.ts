import type { Hex } from '../../../src/lib/hex.ts';
import type { Ledger } from './ledger.ts';

type FrameType = 'CALL' | 'CALLCODE' | 'CREATE' | 'CREATE2' | 'DELEGATECALL' | 'SELFDESTRUCT' | 'STATICCALL';

/** A node of the call tree, as the callTracer reports it. */
export interface CallFrame {
  type: FrameType;
  from: Hex;
  /** Null for a failed creation. */
  to: Hex | null;
  value: bigint;
  input: Hex;
  output?: Hex;
  error?: string;
  calls?: CallFrame[];
}

export interface TransactionLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
}

/**
 * A transaction under construction: its contents, its logs and its call tree. The same calls book its transfers in the
 * ledger.
 */
export class Transaction {
  private readonly ledger: Ledger;
  readonly from: Hex;
  /** Null for a contract creation. */
  readonly to: Hex | null;
  readonly value: bigint;
  readonly input: Hex;
  readonly logs: TransactionLog[] = [];
  readonly root: CallFrame;
  succeeded = true;
  /** The contract created by a successful creation. */
  created: Hex | null = null;

  constructor(ledger: Ledger, from: Hex, to: Hex | null, value: bigint, input: Hex = '0x') {
    this.ledger = ledger;
    this.from = from;
    this.to = to;
    this.value = value;
    this.input = input;
    this.root = { type: to === null ? 'CREATE' : 'CALL', from, to, value, input };
  }

  /** Books the value as moved. Call it exactly once for every successful transaction, after `created` is known. */
  pay(): this {
    const receiver = this.to ?? this.created;
    if (this.value > 0n && receiver !== null)
      this.ledger.book({ kind: 'native', from: this.from, to: receiver, amount: this.value });
    return this;
  }

  /** Adds a log; returns its index in the block. */
  emit(address: Hex, topics: Hex[], data: Hex): number {
    this.logs.push({ address, topics, data });
    return this.ledger.position.firstLogIndex + this.logs.length - 1;
  }

  /** Adds a frame below the root. The frame itself moves no value: see `move`. */
  frame(frame: CallFrame): CallFrame {
    this.root.calls ??= [];
    this.root.calls.push(frame);
    return frame;
  }

  /** Adds a CALL frame below the root. */
  call(from: Hex, to: Hex, value: bigint, input: Hex = '0x'): CallFrame {
    return this.frame({ type: 'CALL', from, to, value, input });
  }

  /** Books value moved by a frame; `wei` is above zero. */
  move(from: Hex, to: Hex, wei: bigint): void {
    this.ledger.book({ kind: 'internal', from, to, amount: wei });
  }
}
