/** A list of the API as CSV, read page by page. */
import type { Api, ApiExchange } from './api.ts';

/** Most rows of one file, and rows per request. */
export const MAX_CSV_ROWS = 10_000;
const PAGE = 200;

/** Whether the answer is a list, which the API also writes as CSV. */
export function isList({ method, path, answer }: ApiExchange): boolean {
  const isObject = typeof answer === 'object' && answer !== null;
  return method === 'GET' && path.startsWith('/api/') && isObject && 'count' in answer;
}

/** The list that an exchange began, from its start to its end or to MAX_CSV_ROWS, with one header line. */
export async function csvOf({ path }: ApiExchange, api: Api, signal: AbortSignal): Promise<string> {
  const url = new URL(path, location.origin);
  url.searchParams.set('format', 'csv');
  url.searchParams.delete('seen');
  const { searchParams } = url;
  if (searchParams.has('limit')) searchParams.set('limit', `${PAGE}`);
  let text = '';
  for (let rows = 0; rows < MAX_CSV_ROWS; rows += PAGE) {
    const { data, exchange } = await api.send<string>('GET', url.pathname + url.search, null, signal);
    text += text === '' ? data : data.slice(data.indexOf('\n') + 1);
    if (exchange.nextCursor === null) break;
    searchParams.set('cursor', exchange.nextCursor);
  }
  return text;
}

/** A name for the file, such as `wallet_trades.csv`. */
export function csvName({ path }: ApiExchange): string {
  return `${path.slice('/api/'.length).replace(/\?.*/, '')}.csv`;
}
