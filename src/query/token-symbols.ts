/** The symbol and decimals of a token, with which its amounts are shown. */
import type { Db } from '../store/open-database.ts';
import type { TransferRow } from './transfers.ts';

/** By the contract's address, hex digits without prefix. */
export type TokenSymbols = (token: string) => Pick<TransferRow, 'symbol' | 'decimals'>;

const UNKNOWN = { symbol: null, decimals: null };

export function prepareTokenSymbols(db: Db): TokenSymbols {
  const statement = db.prepare<[string], Pick<TransferRow, 'symbol' | 'decimals'>>(
    'SELECT symbol, decimals FROM token_metadata WHERE address = unhex(+?)',
  );
  return (token) => statement.get(token) ?? UNKNOWN;
}
