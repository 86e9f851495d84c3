/** The wallets and tokens that requests are about: ordinary ones and the hottest, found in the index itself. */

import type { Hex } from '../../../src/lib/hex.ts';
import { bytesToHex } from '../../../src/lib/hex.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import type { Db } from '../../../src/store/open-database.ts';
import { ZERO_WALLET } from '../../../src/store/schema.ts';

export interface SubjectSet {
  wallets: Hex[];
  /** Wallets that funded others. */
  funders: Hex[];
  tokens: Hex[];
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
/** How many of the hottest are asked for in turn, so that the figure is not of a single answer. */
const HOTTEST = 3;

/** Reads the whole of some tables: not for a daemon under load. */
export function findSubjects(indexPath: string): Subjects {
  const db = openIndexForReading(indexPath, { cacheMb: 64 });
  try {
    return {
      ordinary: ordinarySubjects(db),
      hottest: hottestSubjects(db),
      recentWallets: recentWallets(db),
      largest: largest(db),
    };
  } finally {
    db.close();
  }
}

function ordinarySubjects(db: Db): SubjectSet {
  const wallets = spread(db, 'FROM wallets WHERE id <> ? AND transfers BETWEEN 1 AND ?', ORDINARY_WALLETS);
  const funders = spread(
    db,
    'FROM wallets WHERE id <> ? AND funded > 0 AND transfers <= ?',
    ORDINARY_WALLETS,
  );
  const tokens = spread(
    db,
    'FROM tokens JOIN wallets ON wallets.id = tokens.wallet WHERE wallets.id <> ? AND tokens.transfers <= ?',
    ORDINARY_TOKENS,
  );
  return { wallets, funders, tokens };
}

/** `count` addresses of the rows, evenly spread over them. */
function spread(db: Db, rows: string, count: number): Hex[] {
  const addresses = db
    .prepare<[number, number], Buffer>(`SELECT wallets.address ${rows} ORDER BY wallets.id`)
    .pluck()
    .all(ZERO_WALLET, ORDINARY_MAX);
  return evenly(addresses, count);
}

function evenly(addresses: readonly Buffer[], count: number): Hex[] {
  const taken = Math.min(count, addresses.length);
  return Array.from({ length: taken }, (_, i) =>
    bytesToHex(addresses[Math.floor((i * addresses.length) / taken)]!),
  );
}

function hottestSubjects(db: Db): SubjectSet {
  const top = (from: string) =>
    db
      .prepare<[number, number], Buffer>(`SELECT wallets.address ${from} DESC LIMIT ?`)
      .pluck()
      .all(ZERO_WALLET, HOTTEST)
      .map((address) => bytesToHex(address));
  return {
    wallets: top('FROM wallets WHERE id <> ? ORDER BY transfers'),
    funders: top('FROM wallets WHERE id <> ? ORDER BY funded'),
    tokens: top(
      'FROM tokens JOIN wallets ON wallets.id = tokens.wallet WHERE wallets.id <> ? ORDER BY tokens.transfers',
    ),
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
