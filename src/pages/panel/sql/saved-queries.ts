/** The queries that the operator keeps in this browser. */
import { useState } from 'preact/hooks';

export interface SavedQuery {
  name: string;
  query: string;
}

const KEY = 'atlas-saved-queries';
const MOST = 50;

const EXAMPLES: readonly SavedQuery[] = [
  {
    name: 'Tokens with most holders',
    query: 'SELECT symbol, holders, transfers, token_address\nFROM tokens ORDER BY holders DESC LIMIT 20',
  },
  {
    name: 'Newest transfers',
    query:
      'SELECT block_timestamp, transfer_type, quantity, token_symbol, from_address, to_address\nFROM ' +
      'named_transfers ORDER BY id DESC LIMIT 50',
  },
  {
    name: 'Transfers per block',
    query: 'SELECT number, transfers FROM blocks ORDER BY number DESC LIMIT 200',
  },
];

/** The saved queries, of which a new one takes the place of one with its name. */
export function useSavedQueries() {
  const [saved, setSaved] = useState(read);
  const keep = (queries: readonly SavedQuery[]) => {
    setSaved(queries);
    try {
      localStorage.setItem(KEY, JSON.stringify(queries));
    } catch {
      // a browser without storage forgets them with the page
    }
  };
  return {
    saved,
    save: (added: SavedQuery) =>
      keep([added, ...saved.filter(({ name }) => name !== added.name)].slice(0, MOST)),
    remove: (name: string) => keep(saved.filter((query) => query.name !== name)),
  };
}

function read(): readonly SavedQuery[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    return Array.isArray(stored) ? stored.filter(isSaved) : EXAMPLES;
  } catch {
    return EXAMPLES;
  }
}

function isSaved(value: unknown): value is SavedQuery {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'name') === 'string' &&
    typeof Reflect.get(value, 'query') === 'string'
  );
}
