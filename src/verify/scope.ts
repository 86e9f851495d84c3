/**
 * How much a verification reads: the file alone, a sample, or everything. A check asks its scope what to compare, and
 * compares it in the same way whatever the scope.
 */
import { type Random, randomInt } from '../lib/random.ts';
import type { Tip } from '../store/chain.ts';
import { type Db, highest, type Statement } from '../store/open-database.ts';
import { TOKEN_PAGE_BYTES } from '../store/tokens/token-history.ts';
import { ENTRIES_PER_PAGE } from '../store/wallet-history.ts';
import { type Ids, RECOUNT_BYTES } from './recount.ts';

/** Default of `sample`, the number of wallets to recount. The other limits of a sample follow from it. */
export const DEFAULT_SAMPLE = 200;

/** The most of everything that is compared: 0 is none, `Infinity` is all. */
export interface Scope {
  /** Newest transfers that are read: for the checksums of their blocks, and for the recount of a sample. */
  readonly transfers: number;
  readonly wallets: number;
  readonly tokens: number;
  /** Spans of each level of the zone map. */
  readonly spans: readonly [lower: number, upper: number];
  /** Blocks whose hashes are compared with headers of the node. */
  readonly headers: number;
  /** Blocks decoded again, which compares their hashes too. All of them are resumable, and proven by their headers. */
  readonly blocks: number;
  /** Wallets whose native balances, and tokens whose balances, are compared with the node's. */
  readonly nativeWallets: number;
  readonly tokenContracts: number;
  /** Recounts these in place of a choice, as far as memory allows. */
  readonly named: Ids | null;
  readonly random: Random;
}

/** Sampled spans of the upper level. Each takes 256 times the work of a lower one. */
const UPPER_SPANS = 2;

/** Everything that can be checked without a node. */
export const FILE_SCOPE: Scope = {
  transfers: Number.POSITIVE_INFINITY,
  wallets: Number.POSITIVE_INFINITY,
  tokens: Number.POSITIVE_INFINITY,
  spans: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  headers: 0,
  blocks: 0,
  nativeWallets: 0,
  tokenContracts: 0,
  named: null,
  random: Math.random,
};

export function sampleScope(size: number, random: Random): Scope {
  return {
    transfers: size * 100_000,
    wallets: size,
    tokens: Math.ceil(size / 4),
    spans: [size, UPPER_SPANS],
    headers: size * 50,
    blocks: Math.ceil(size / 5),
    nativeWallets: Math.ceil(size / 4),
    tokenContracts: Math.ceil(size / 8),
    named: null,
    random,
  };
}

/** The file, and every block. Balances on the node stay a sample: a node cannot return them all. */
export function fullScope(size: number, random: Random): Scope {
  const { nativeWallets, tokenContracts } = sampleScope(size, random);
  return { ...FILE_SCOPE, blocks: Number.POSITIVE_INFINITY, nativeWallets, tokenContracts, random };
}

/** Some wallets and tokens, recounted from all their transfers. */
export function namedScope(named: Ids): Scope {
  const { wallets, tokens } = named;
  return {
    ...FILE_SCOPE,
    wallets: wallets.length,
    tokens: tokens.length,
    spans: [wallets.length, UPPER_SPANS],
    named,
  };
}

export function isAll(limit: number): boolean {
  return limit === Number.POSITIVE_INFINITY;
}

/**
 * Up to `count` distinct numbers of `from..to`, ascending: all of them if there are few enough, else both ends and
 * random others.
 */
export function* pickNumbers(random: Random, from: number, to: number, count: number): Generator<number> {
  if (to - from < count) {
    for (let number = from; number <= to; number++) yield number;
    return;
  }
  const chosen = new Set([from, to].slice(0, count));
  while (chosen.size < count) chosen.add(randomInt(random, from, to));
  yield* [...chosen].sort((a, b) => a - b);
}

/** Memory limit for the recounts of one pass over the transfers, bytes: half for wallets, half for tokens. */
export const BYTES_PER_PASS = 300_000_000;

/** The wallets and tokens that one pass over the transfers recounts. */
export interface Pass {
  /** Chooses them among those whose transfers are all above `after`. Repeated when a reorg removes transfers. */
  choose(tip: Tip, after: number): Choice;
  /** The part of all passes before this one, and of this one, 0 to 1. */
  done: number;
  part: number;
}

interface Choice extends Ids {
  /** Ids without a row although higher ones have one. */
  readonly missing: Ids;
}

/** Costs one pass over all transfers per `bytesPerPass` of recounts if the scope has all wallets, else one pass. */
export function* passesOf(db: Db, tip: Tip, scope: Scope, bytesPerPass: number): Generator<Pass> {
  if (!isAll(scope.wallets)) {
    yield { choose: (now, after) => chooseSample(db, now, after, scope), done: 0, part: 1 };
    return;
  }
  const lastToken = highest(db, 'tokens');
  const total = tip.lastWallet + 1 + lastToken;
  const packer = new PassPacker(db, bytesPerPass / 2);
  for (let wallet = 0, token = 1; wallet <= tip.lastWallet || token <= lastToken; ) {
    const wallets = packer.wallets(wallet, tip.lastWallet);
    const tokens = packer.tokens(token, lastToken);
    const [done, part] = [(wallet + token - 1) / total, (wallets.length + tokens.length) / total];
    yield {
      choose: (now) => ({ wallets, tokens, missing: missingOf(db, now, { wallets, tokens }) }),
      done,
      part,
    };
    wallet += wallets.length;
    token += tokens.length;
  }
}

/** Consecutive ids without a row, except those that a reorg removed. */
function missingOf(db: Db, { lastWallet }: Tip, { wallets, tokens }: Ids): Ids {
  const without = (table: 'wallets' | 'tokens', ids: readonly number[], last: number): number[] => {
    const [from = 0, to = -1] = [ids[0], ids.at(-1)];
    const present = db
      .prepare<[number, number], number>(`SELECT id FROM ${table} WHERE id BETWEEN ? AND ? ORDER BY id`)
      .pluck();
    const missing: number[] = [];
    let next = from;
    for (const id of present.iterate(from, to)) {
      for (; next < id; next++) missing.push(next);
      next = id + 1;
    }
    for (; next <= Math.min(to, last); next++) missing.push(next);
    return missing;
  };
  return {
    wallets: without('wallets', wallets, lastWallet),
    tokens: without('tokens', tokens, highest(db, 'tokens')),
  };
}

/** Chooses the consecutive ids of the next pass. Estimates sizes from the stored counters. */
class PassPacker {
  private readonly walletSizes: Statement<[number, number], number | null>;
  private readonly tokenSizes: Statement<[number, number], number | null>;
  private readonly maxBytes: number;

  constructor(db: Db, maxBytes: number) {
    this.maxBytes = maxBytes;
    this.walletSizes = db
      .prepare<[number, number], number | null>(
        /* sql */ `
        SELECT min(transfers, ${ENTRIES_PER_PAGE}) * ${RECOUNT_BYTES.entry}
          + tokens * ${RECOUNT_BYTES.walletToken} + ${RECOUNT_BYTES.wallet}
        FROM wallets WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .pluck();
    this.tokenSizes = db
      .prepare<[number, number], number | null>(
        /* sql */ `
        SELECT min(transfers, ${TOKEN_PAGE_BYTES}) * ${RECOUNT_BYTES.tokenEntry}
          + wallets * ${RECOUNT_BYTES.holding} + ${RECOUNT_BYTES.token}
        FROM tokens WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .pluck();
  }

  wallets(from: number, to: number): number[] {
    return pack(this.walletSizes, from, to, this.maxBytes);
  }

  tokens(from: number, to: number): number[] {
    return pack(this.tokenSizes, from, to, this.maxBytes);
  }
}

/** The ids from `from` on whose sizes add up to at most `maxBytes`; at least one id. */
function pack(
  sizes: Statement<[number, number], number | null>,
  from: number,
  to: number,
  maxBytes: number,
): number[] {
  let bytes = 0;
  let count = 0;
  for (const size of sizes.iterate(from, to)) {
    bytes += Math.max(0, size ?? 0); // damage may give any number
    if (count > 0 && bytes > maxBytes) break;
    count++;
  }
  // If rows are missing, the pass ends early; the next one includes their ids and reports them.
  const end = count === 0 ? to : Math.min(to, from + count - 1);
  return Array.from({ length: Math.max(0, end - from + 1) }, (_, i) => from + i);
}

/**
 * Wallets and tokens with all transfers after `after`: half random, half from random transfers, which hits busy ones.
 */
function chooseSample(db: Db, tip: Tip, after: number, scope: Scope): Choice {
  const { random, named } = scope;
  const transfer = db.prepare<[number], { sender: number; receiver: number; token: number | null }>(
    'SELECT sender, receiver, token FROM transfers WHERE id = ?',
  );
  const randomTransfer = () =>
    tip.lastTransfer > after ? transfer.get(randomInt(random, after + 1, tip.lastTransfer)) : undefined;
  const lastToken = highest(db, 'tokens');
  const wallets = new IdSampler(
    db.prepare(
      `SELECT min(transfers, ${ENTRIES_PER_PAGE}) + tokens AS kept, first_transfer FROM wallets WHERE id = ?`,
    ),
    tip.lastWallet,
    after,
  );
  const tokens = new IdSampler(
    db.prepare('SELECT wallets AS kept, first_transfer FROM tokens WHERE id = ?'),
    lastToken,
    after,
  );
  if (named === null) {
    wallets.addFew(0, scope.wallets);
    tokens.addFew(1, scope.tokens);
    for (let i = 0; i < scope.wallets; i++) {
      const { sender = 0, receiver = 0 } = randomTransfer() ?? {};
      wallets.add(
        [randomInt(random, 0, tip.lastWallet), sender, randomInt(random, 0, tip.lastWallet), receiver][
          i % 4
        ]!,
      );
      if (i < scope.tokens)
        tokens.add(i % 2 === 0 ? randomInt(random, 1, lastToken) : (randomTransfer()?.token ?? 1));
    }
  }
  for (const id of named?.wallets ?? []) wallets.add(id);
  for (const id of named?.tokens ?? []) tokens.add(id);
  return {
    wallets: [...wallets.chosen],
    tokens: [...tokens.chosen],
    missing: { wallets: [...wallets.missing], tokens: [...tokens.missing] },
  };
}

/**
 * Most entries that a recount keeps for one wallet or token, and for a whole sample: the entries of a history page, the
 * tokens of a wallet, the wallets of a token. Bounds memory independently of the number of transfers.
 */
const MAX_KEPT_EACH = 200_000;
const MAX_KEPT_ALL = 600_000;

interface Counted {
  kept: number;
  first_transfer: number | null;
}

/** Samples ids while their entries fit the bounds. */
class IdSampler {
  readonly chosen = new Set<number>();
  /** Ids without a row although higher ones have one. */
  readonly missing = new Set<number>();
  private readonly row: Statement<[number], Counted>;
  private readonly last: number;
  private readonly after: number;
  private total = 0;

  constructor(row: Statement<[number], Counted>, last: number, after: number) {
    this.row = row;
    this.last = last;
    this.after = after;
  }

  /** Adds all ids if there are at most `count`. */
  addFew(from: number, count: number): void {
    if (this.last - from + 1 > count) return;
    for (let id = from; id <= this.last; id++) this.add(id);
  }

  add(id: number): void {
    const row = this.row.get(id);
    if (row === undefined && id <= this.last) this.missing.add(id);
    if (row === undefined || this.chosen.has(id) || row.kept > MAX_KEPT_EACH) return;
    if (this.total + row.kept > MAX_KEPT_ALL) return;
    if (this.after > 0 && (row.first_transfer ?? 0) <= this.after) return;
    this.total += row.kept;
    this.chosen.add(id);
  }
}
