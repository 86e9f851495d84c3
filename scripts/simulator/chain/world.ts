import type { Hex } from '../../../src/lib/hex.ts';
import { Prng } from '../../../src/lib/random.ts';
import { type ActorCounts, Actors } from './actors.ts';
import { Ledger } from './ledger.ts';
import { Markets } from './markets.ts';
import { Transaction } from './transaction.ts';

/** The state of a chain during generation: activities draw from it and change it. */
export class World {
  readonly prng: Prng;
  readonly actors: Actors;
  readonly ledger = new Ledger();
  readonly markets = new Markets();
  /** Whether wallets buy and sell. */
  readonly trades: boolean;
  /** Wallets that recently got their first coins, oldest first. Funding chains grow from here. */
  readonly recentlyFunded: Hex[] = [];
  /** Funders that still owe one transaction to a fresh wallet, one entry per transaction. */
  readonly fundingQueue: Hex[] = [];

  constructor(seed: number, options: ActorCounts & { trades: boolean }) {
    this.prng = new Prng(seed);
    this.trades = options.trades;
    this.actors = new Actors(this.prng, options);
  }

  /** Starts the transaction at the ledger's position. */
  begin(from: Hex, to: Hex | null, value: bigint, input?: Hex): Transaction {
    return new Transaction(this.ledger, from, to, value, input);
  }
}
