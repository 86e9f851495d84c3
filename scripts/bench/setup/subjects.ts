/** The wallets and tokens of the requests: ordinary ones and the hottest, taken from the index itself. */
import type { Hex } from '../../../src/lib/hex.ts';
import { bytesToHex } from '../../../src/lib/hex.ts';
import { prepareWalletIdByAddress } from '../../../src/query/wallets.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import { type Db, highest } from '../../../src/store/open-database.ts';
import { ZERO_WALLET } from '../../../src/store/schema.ts';
import { prepareTradeGenerations } from '../../../src/store/trades/trade-generations.ts';
import { type HeldToken, hottestHeldTokens, ordinaryHeldTokens } from './held-tokens.ts';

export interface SubjectSet {
  wallets: Hex[];
  /** Wallets that funded others. */
  funders: Hex[];
  tokens: Hex[];
  held: HeldToken[];
  blocks: number[];
  transactions: Hex[];
  /** A tenth of the blocks, from the middle on. */
  window: { since: string; until: string };
  /** The number of blocks from the middle on. */
  half: number;
  /** The quote token with the most transfers; null where the index has none. */
  quote: Hex | null;
}

export interface Subjects {
  ordinary: SubjectSet;
  hottest: SubjectSet;
  /** Busy and less busy wallets of the newest transfers: each later block has transfers of some of them. */
  recentWallets: Hex[];
  /** Transfers of the hottest wallet, of the hottest token, and holders of that token. */
  largest: { walletTransfers: number; tokenTransfers: number; holders: number };
}

/** Most transfers of an ordinary wallet or token. */
const ORDINARY_MAX = 10_000;
const ORDINARY_WALLETS = 1_000;
const ORDINARY_TOKENS = 100;
/** Transfers of about 120 blocks, and the wallets with the most of them. */
const RECENT_TRANSFERS = 30_000;
const RECENT_WALLETS = 4_000;
/** How many of the hottest are requested in turn, so that the figure does not depend on a single answer. */
const HOTTEST = 3;
const TRANSACTIONS = 100;

function busiestQuote(db: Db): Hex | null {
  const walletOf = prepareWalletIdByAddress(db);
  const transfersOf = db.prepare<[number], number>('SELECT transfers FROM tokens WHERE wallet = ?').pluck();
  let busiest: { quote: Hex; transfers: number } | null = null;
  for (const quote of prepareTradeGenerations(db)().current?.rules.quoteTokens ?? []) {
    const transfers = transfersOf.get(walletOf(quote) ?? ZERO_WALLET) ?? 0;
    if (transfers > (busiest?.transfers ?? 0)) busiest = { quote, transfers };
  }
  return busiest?.quote ?? null;
}

/** Reads whole tables: not for a daemon under load. */
export function findSubjects(indexPath: string, hottest = HOTTEST): Subjects {
  const db = openIndexForReading(indexPath, { cacheMb: 64 });
  try {
    const places = {
      blocks: someBlocks(db),
      transactions: someTransactions(db),
      ...middle(db),
      quote: busiestQuote(db),
    };
    return {
      ordinary: { ...ordinarySubjects(db), ...places },
      hottest: { ...hottestSubjects(db, hottest), ...places },
      recentWallets: recentWallets(db),
      largest: largest(db),
    };
  } finally {
    db.close();
  }
}

type Addresses = Pick<SubjectSet, 'wallets' | 'funders' | 'tokens' | 'held'>;

function ordinarySubjects(db: Db): Addresses {
  const from = (rows: string) => `SELECT address FROM ${rows} AND transfers <= ${ORDINARY_MAX}`;
  return {
    wallets: spread(db, 'wallets', from('wallets WHERE id >= ? AND transfers > 0'), ORDINARY_WALLETS),
    funders: spread(db, 'wallets', from('wallets WHERE id >= ? AND funded > 0'), ORDINARY_WALLETS),
    tokens: spread(
      db,
      'tokens',
      `SELECT address FROM tokens JOIN wallets ON wallets.id = tokens.wallet
        WHERE tokens.id >= ? AND tokens.transfers <= ${ORDINARY_MAX} ORDER BY tokens.id`,
      ORDINARY_TOKENS,
    ),
    held: ordinaryHeldTokens(db, evenIds(highest(db, 'tokens'), ORDINARY_TOKENS), ORDINARY_MAX),
  };
}

/** Up to `count` addresses, evenly spread over the ids of a table: the first that `rows` returns from each id on. */
function spread(db: Db, table: string, rows: string, count: number): Hex[] {
  const next = db.prepare<[number], Buffer>(`${rows} LIMIT 1`).pluck();
  const found = evenIds(highest(db, table), count).flatMap((id) => next.get(id) ?? []);
  return [...new Set(found.map((address) => bytesToHex(address)))];
}

/** Up to `count` of the ids from 1 to `last`. */
function evenIds(last: number, count: number): number[] {
  const taken = Math.min(count, last);
  return Array.from({ length: taken }, (_, i) => 1 + Math.floor((i * last) / taken));
}

function evenly(addresses: readonly Buffer[], count: number): Hex[] {
  const taken = Math.min(count, addresses.length);
  return Array.from({ length: taken }, (_, i) =>
    bytesToHex(addresses[Math.floor((i * addresses.length) / taken)]!),
  );
}

function someBlocks(db: Db): number[] {
  const { first, count } = blocksOf(db);
  return evenIds(count, TRANSACTIONS).map((n) => first + n - 1);
}

function blocksOf(db: Db): { first: number; count: number } {
  const first = db.prepare<[], number>('SELECT min(number) FROM blocks').pluck().get() ?? 0;
  return { first, count: highest(db, 'blocks', 'number') - first + 1 };
}

function middle(db: Db): Pick<SubjectSet, 'window' | 'half'> {
  const { first, count } = blocksOf(db);
  const timeOf = db
    .prepare<[number], number>('SELECT timestamp FROM blocks WHERE number >= ? LIMIT 1')
    .pluck();
  const half = Math.ceil(count / 2);
  const [since, until] = [half, half - Math.floor(count / 10)].map(
    (left) => `${timeOf.get(first + count - left)}`,
  );
  return { window: { since: since!, until: until! }, half };
}

function someTransactions(db: Db): Hex[] {
  const next = db.prepare<[number], Buffer>(
    "SELECT tx FROM transfers WHERE id >= ? AND typeof(tx) = 'blob' ORDER BY id LIMIT 1",
  );
  return evenIds(highest(db, 'transfers'), TRANSACTIONS).flatMap((id) => {
    const hash = next.pluck().get(id);
    return hash === undefined ? [] : bytesToHex(hash);
  });
}

function hottestSubjects(db: Db, count: number): Addresses {
  const top = (from: string) =>
    db
      .prepare<[number, number], Buffer>(`SELECT wallets.address ${from} DESC LIMIT ?`)
      .pluck()
      .all(ZERO_WALLET, count)
      .map((address) => bytesToHex(address));
  return {
    wallets: top('FROM wallets WHERE id <> ? ORDER BY transfers'),
    funders: top('FROM wallets WHERE id <> ? ORDER BY funded'),
    tokens: top(
      'FROM tokens JOIN wallets ON wallets.id = tokens.wallet WHERE wallets.id <> ? ORDER BY tokens.transfers',
    ),
    held: hottestHeldTokens(db, count),
  };
}

function recentWallets(db: Db): Hex[] {
  const addresses = db
    .prepare<[number, number, number], Buffer>(/* sql */ `
      WITH recent AS (SELECT sender, receiver FROM transfers ORDER BY id DESC LIMIT ?),
        sides AS (SELECT sender AS wallet FROM recent UNION ALL SELECT receiver FROM recent)
      SELECT address FROM sides JOIN wallets ON wallets.id = wallet
      WHERE wallet <> ? GROUP BY wallet ORDER BY count(*) DESC, wallet LIMIT ?`)
    .pluck()
    .all(RECENT_TRANSFERS, ZERO_WALLET, RECENT_WALLETS);
  return evenly(addresses, ORDINARY_WALLETS);
}

function largest(db: Db): Subjects['largest'] {
  const value = (sql: string) => db.prepare<[], number>(sql).pluck().get() ?? 0;
  return {
    walletTransfers: value(`SELECT max(transfers) FROM wallets WHERE id <> ${ZERO_WALLET}`),
    tokenTransfers: value('SELECT max(transfers) FROM tokens'),
    holders: value('SELECT holders FROM tokens ORDER BY transfers DESC LIMIT 1'),
  };
}
