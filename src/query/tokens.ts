/**
 * Tokens by the wallet of their contract, and by the beginning of their symbol or name. Contracts choose both freely,
 * so many may share one.
 */

import type { ViewKind } from '../model/transfer-kind.ts';
import { type AddressKeys, WALLET_BY_ADDRESS, walletByStoredAddress } from '../store/addresses.ts';
import { blockNumberSql } from '../store/chain.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { MAX_FIRST_BUYERS } from '../store/schema.ts';
import { BALANCE_ACCURACY_NAMES, type BalanceAccuracyName } from '../store/tokens/balance-accuracy.ts';
import { prepareBuyersOf } from '../store/tokens/first-buyers.ts';
import { EVENT_INDEX, type TransferRow, TX_HASH } from './transfers.ts';
import { getByHexAddress } from './wallets.ts';
import type { WorkBudget } from './work-budget.ts';

/** How a token is shown with its transfers. */
export type TokenDisplay = Pick<TransferRow, 'symbol' | 'decimals' | 'viewKind'>;

/** Symbol, decimals and view kind by contract address, hex digits without prefix. */
export type TokenSymbols = (token: string) => TokenDisplay;

/** Returned by `TokenSymbols` for a token whose contract was not called yet. */
export const UNREAD_TOKEN: TokenDisplay = { symbol: null, decimals: null, viewKind: null };

export function prepareTokenSymbols(db: Db): TokenSymbols {
  const statement = db.prepare<[string], TokenDisplay>(
    'SELECT symbol, decimals, view_kind AS viewKind FROM token_metadata WHERE address = unhex(+?)',
  );
  return (token) => statement.get(token) ?? UNREAD_TOKEN;
}

/** The first transfer of a token. */
interface TokenStart {
  /** transfers.id */
  transfer: number;
  /** TransferKind */
  kind: number;
  /** Unix seconds. */
  timestamp: number;
}

/** The first transfer of the token of a contract (40 hex digits without prefix); undefined without a committed one. */
export function prepareTokenStart(db: Db): (contract: string) => TokenStart | undefined {
  const statement = db.prepare<AddressKeys, TokenStart>(/* sql */ `
    SELECT t.first_transfer AS transfer, t.kind, b.timestamp FROM ${WALLET_BY_ADDRESS}
      CROSS JOIN tokens t ON t.wallet = w.id CROSS JOIN blocks b ON b.number = ${blockNumberSql('t.first_transfer')}`);
  return (contract) => getByHexAddress(statement, `0x${contract}`);
}

/** The facts about a token with transfers. */
interface TokenFacts {
  id: number;
  transfers: number;
  holders: number;
  wallets: number;
  firstBlock: number;
  /** Unix seconds of `firstBlock`. */
  firstTimestamp: number;
  /** Kind of its first transfer. */
  kind: number;
  viewKind: ViewKind;
  /** From the contract, null while unknown. */
  name: string | null;
  symbol: string | null;
  decimals: number | null;
}

/** The facts about a token; undefined when the wallet emitted no transfer. */
export function prepareTokenFacts(db: Db): (wallet: number) => TokenFacts | undefined {
  const statement = db.prepare<[number], TokenFacts>(/* sql */ `
    SELECT t.id, t.transfers, t.holders, t.wallets, b.number AS firstBlock, b.timestamp AS firstTimestamp, t.kind,
      m.view_kind AS viewKind, m.name, m.symbol, m.decimals
    FROM tokens t CROSS JOIN wallets w ON w.id = t.wallet
      CROSS JOIN blocks b ON b.number = ${blockNumberSql('t.first_transfer')}
      LEFT JOIN token_metadata m ON m.address = w.address
    WHERE t.wallet = +?`);
  return (wallet) => statement.get(wallet);
}

/** A token in a list. */
export interface ListedToken {
  id: number;
  /** The contract, hex digits without prefix. */
  address: string;
  /** From the contract, null while unknown. */
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  /** Kind of its first transfer. */
  kind: number;
  viewKind: ViewKind;
  transfers: number;
}

/** SQL: a ListedToken, over `tokens t`, the wallet `w` of its contract and its metadata `m`. */
export const LISTED_TOKEN_COLUMNS =
  't.id, lower(hex(w.address)) AS address, m.name, m.symbol, m.decimals, t.kind, m.view_kind AS viewKind, t.transfers';

/** The tokens of a list of ids, in its order. */
export function prepareTokensById(db: Db): (ids: readonly number[]) => ListedToken[] {
  const statement = db.prepare<[string], ListedToken>(/* sql */ `
    SELECT ${LISTED_TOKEN_COLUMNS}
    FROM json_each(?) list CROSS JOIN tokens t ON t.id = list.value CROSS JOIN wallets w ON w.id = t.wallet
      LEFT JOIN token_metadata m ON m.address = w.address`);
  return (ids) => statement.all(idList(ids));
}

/** The id of a token, or undefined when the wallet emitted no transfer. */
export function prepareTokenIdByWallet(db: Db): (wallet: number) => number | undefined {
  const statement = db.prepare<[number], number>('SELECT id FROM tokens WHERE wallet = +?').pluck();
  return (wallet) => statement.get(wallet);
}

/** The ids of the tokens with exactly this symbol. */
export function prepareTokenIdsBySymbol(db: Db): (symbol: string) => number[] {
  const statement = db
    .prepare<[string, string], number>(/* sql */ `
      SELECT t.id FROM (SELECT address FROM token_metadata WHERE symbol COLLATE NOCASE = +? AND symbol = +?) m
        CROSS JOIN ${walletByStoredAddress('m.address')} CROSS JOIN tokens t ON t.wallet = w.id`)
    .pluck();
  return (symbol) => statement.all(symbol, symbol);
}

/** The public name of a token's balance accuracy, null while not examined. */
export function prepareBalanceAccuracyName(db: Db): (token: number) => BalanceAccuracyName | null {
  const statement = db
    .prepare<[number], number>('SELECT quality FROM token_quality WHERE token = +?')
    .pluck();
  return (token) => BALANCE_ACCURACY_NAMES[statement.get(token) ?? -1] ?? null;
}

interface FirstBuyer extends Pick<TransferRow, 'txHash' | 'eventIndex'> {
  /** transfers.id of the first non-zero amount received, as are txHash and eventIndex. */
  transfer: number;
  /** Hex digits without prefix. */
  address: string;
  /** Block of the first non-zero amount received. */
  block: number;
  /** Unix seconds of `block`. */
  timestamp: number;
  /** Its transfers of the token. */
  transfers: number;
}

/** The first receivers of a non-zero amount of a token after a transfer, earliest first. */
export function prepareFirstBuyers(db: Db): (token: number, after: number, limit: number) => FirstBuyer[] {
  const buyersOf = prepareBuyersOf(db);
  const statement = db.prepare<[string, number], FirstBuyer>(/* sql */ `
    SELECT t.id AS transfer, ${TX_HASH} AS txHash, ${EVENT_INDEX} AS eventIndex, lower(hex(w.address)) AS address,
      b.number AS block, b.timestamp, h.transfers
    FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value ->> 0
      CROSS JOIN wallets w ON w.id = list.value ->> 1
      CROSS JOIN holdings h ON h.token = +? AND h.wallet = w.id
      CROSS JOIN blocks b ON b.number = ${blockNumberSql('t.id')}`);
  return (token, after, limit) => {
    const page = buyersOf(token)
      .filter(({ transfer }) => transfer > after)
      .slice(0, limit);
    return statement.all(JSON.stringify(page.map(({ transfer, wallet }) => [transfer, wallet])), token);
  };
}

/** Whether a token may have more receivers than are kept. */
export function prepareHasMoreBuyers(db: Db): (token: number) => boolean {
  const statement = db
    .prepare<[number], number>(
      `SELECT buyers >= ${MAX_FIRST_BUYERS} AND wallets > buyers FROM tokens WHERE id = +?`,
    )
    .pluck();
  return (token) => statement.get(token) === 1;
}

/** Most tokens compared per kind of match. */
const MAX_CANDIDATES = 5_000;

/** Work units for each candidate: four lookups. */
const UNITS_PER_CANDIDATE = 20;

/** Sorts after every text with the same prefix. */
const AFTER_ALL = '\u{10ffff}';

/** Tokens whose column `symbol` or `name` lies between two texts. */
interface Match {
  count: Statement<[string, string], number>;
  read: Statement<[string, string, number], ListedToken>;
}

function prepareMatch(db: Db, column: 'symbol' | 'name'): Match {
  const candidates = /* sql */ `
    SELECT address, name, symbol, decimals, view_kind FROM token_metadata
    WHERE ${column} COLLATE NOCASE >= +? AND ${column} COLLATE NOCASE <= +? LIMIT ${MAX_CANDIDATES}`;
  return {
    count: db.prepare<[string, string], number>(`SELECT count(*) FROM (${candidates})`).pluck(),
    read: db.prepare<[string, string, number], ListedToken>(/* sql */ `
      SELECT ${LISTED_TOKEN_COLUMNS} FROM (${candidates}) m
        CROSS JOIN ${walletByStoredAddress('m.address')} CROSS JOIN tokens t ON t.wallet = w.id
      ORDER BY t.transfers DESC, t.id LIMIT +?`),
  };
}

/**
 * Tokens with transfers: first those whose symbol is the text, then those whose name is, then those whose symbol or
 * name starts with it. Within each group, those with most transfers first. Ignores ASCII case.
 */
export function prepareTokenSearch(
  db: Db,
): (text: string, limit: number, budget: WorkBudget) => ListedToken[] {
  const bySymbol = prepareMatch(db, 'symbol');
  const byName = prepareMatch(db, 'name');
  return (text, limit, budget) => {
    const found = new Map<number, ListedToken>();
    for (const last of [text, text + AFTER_ALL]) {
      for (const { count, read } of [bySymbol, byName]) {
        if (found.size >= limit) break;
        budget.spend(UNITS_PER_CANDIDATE * (count.get(text, last) ?? 0));
        for (const token of read.all(text, last, limit)) if (!found.has(token.id)) found.set(token.id, token);
      }
    }
    return [...found.values()].slice(0, limit);
  };
}
