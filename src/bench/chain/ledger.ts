/**
 * What the index must find in a generated chain. The activities book here as they decide what happens. Nothing in it is
 * decoded from the JSON they produce, so a decoding mistake cannot hide in the expected results.
 */
import { ZERO_ADDRESS } from '../../lib/address.ts';
import type { Hex } from '../../types.ts';
import { type Counts, zeroCounts } from './counts.ts';
import {
  emptyWallet,
  type Funding,
  type NativeKind,
  type Position,
  type TokenFacts,
  type TokenKind,
  type TokenMove,
  type TransferRow,
  type WalletFacts,
  type WhaleTransfer,
} from './facts.ts';

/** A thousand coins. */
const WHALE_WEI = 1000n * 10n ** 18n;

export class Ledger {
  readonly counts: Counts = zeroCounts();
  readonly wallets = new Map<Hex, WalletFacts>();
  readonly tokens = new Map<Hex, TokenFacts>();
  /** Native transfers of at least 1,000 coins, in chain order. */
  readonly whales: WhaleTransfer[] = [];
  position: Position = { block: 0, timestamp: 0, txHash: '0x', txIndex: 0, firstLogIndex: 0 };
  private readonly keepsFacts: boolean;
  private rows: TransferRow[] = [];

  /** Without facts only counts and rows are kept, whose size does not grow with the chain. */
  constructor(keepsFacts: boolean) {
    this.keepsFacts = keepsFacts;
  }

  /** A transaction was sent, successful or not. */
  bookSent(from: Hex): void {
    if (this.keepsFacts) this.wallet(from).sent++;
  }

  /** Native currency moved; `wei` is above zero. */
  bookNative(kind: NativeKind, from: Hex, to: Hex, wei: bigint): void {
    const { block, txHash, txIndex } = this.position;
    const amount = wei.toString();
    this.counts[kind]++;
    if (from === to) this.counts.nativeSelf++;
    this.rows.push({ block, tx: txIndex, hash: txHash, kind, from, to, amount });
    if (this.keepsFacts) this.bookNativeFacts(kind, from, to, wei);
  }

  private bookNativeFacts(kind: NativeKind, from: Hex, to: Hex, wei: bigint): void {
    const { block, txHash } = this.position;
    const amountWei = wei.toString();
    const sender = this.wallet(from);
    const receiver = this.wallet(to);
    sender.nativeOut++;
    receiver.nativeIn++;
    if (kind === 'native') {
      sender.outDirect += wei;
      receiver.inDirect += wei;
    } else {
      sender.outInternal += wei;
      receiver.inInternal += wei;
    }
    // A transfer to oneself funds nobody.
    if (from !== to) bookFunding(receiver, kind, { funder: from, amountWei, txHash, block });
    if (wei >= WHALE_WEI) this.whales.push({ block, txHash, kind, from, to, amountWei });
  }

  /** Tokens moved; the zero address on one side is a mint or a burn. */
  bookToken(move: TokenMove): void {
    this.rows.push(this.tokenRow(move));
    if (this.keepsFacts) this.bookTokenFacts(move);
  }

  private bookTokenFacts({ kind, token, from, to, amount }: TokenMove): void {
    const facts = this.token(token, kind);
    facts.rows++;
    facts.balances.set(from, (facts.balances.get(from) ?? 0n) - amount);
    facts.balances.set(to, (facts.balances.get(to) ?? 0n) + amount);
    if (to !== ZERO_ADDRESS) this.bookReceiver(facts, to);
    for (const wallet of [from, to]) {
      if (wallet === ZERO_ADDRESS) continue;
      facts.wallets.add(wallet);
      this.wallet(wallet).tokens.add(token);
    }
  }

  /** The transfers booked since the last call, in chain order. */
  takeRows(): TransferRow[] {
    const rows = this.rows;
    this.rows = [];
    return rows;
  }

  private wallet(address: Hex): WalletFacts {
    let facts = this.wallets.get(address);
    if (!facts) {
      facts = emptyWallet();
      this.wallets.set(address, facts);
    }
    return facts;
  }

  private token(address: Hex, kind: TokenKind): TokenFacts {
    let facts = this.tokens.get(address);
    if (!facts) {
      facts = {
        kind,
        rows: 0,
        wallets: new Set(),
        balances: new Map(),
        firstBlock: this.position.block,
        firstTimestamp: this.position.timestamp,
        receivers: new Map(),
      };
      this.tokens.set(address, facts);
    }
    return facts;
  }

  private bookReceiver(facts: TokenFacts, address: Hex): void {
    const known = facts.receivers.get(address);
    if (known) {
      known.transferCount++;
      return;
    }
    const { block, timestamp } = this.position;
    facts.receivers.set(address, {
      address,
      firstSeenBlock: block,
      firstSeenTimestamp: timestamp,
      transferCount: 1,
    });
  }

  private tokenRow(move: TokenMove): TransferRow {
    const { block, txIndex, txHash } = this.position;
    const { kind, token, from, to, logIndex } = move;
    const row: TransferRow = {
      block,
      tx: txIndex,
      hash: txHash,
      logIndex,
      kind,
      token,
      from,
      to,
      ...(move.tokenId !== undefined && { tokenId: move.tokenId.toString() }),
      amount: move.amount.toString(),
    };
    if (move.batchIndex !== undefined) row.batchIndex = move.batchIndex;
    return row;
  }
}

function bookFunding(receiver: WalletFacts, kind: NativeKind, funding: Funding): void {
  if (kind === 'native') {
    receiver.firstDirect ??= funding;
    receiver.latestDirect = funding;
  } else {
    receiver.firstInternal ??= funding;
    receiver.latestInternal = funding;
  }
}
