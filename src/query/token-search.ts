/** Finds tokens by the beginning of their symbol or name. Contracts choose both freely, so many may share one. */
import { walletByStoredAddress } from '../store/addresses.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { LISTED_TOKEN_COLUMNS, type ListedToken } from './tokens.ts';
import type { WorkBudget } from './work-budget.ts';

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
    SELECT address, name, symbol, decimals FROM token_metadata
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
