/** The visitor's recent search results, stored by the browser for the next search. */
import type { Found } from './resolve.ts';

const STORAGE_KEY = 'atlas-searches';
const KEPT = 8;

export function recentSearches(): Found[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isFound).slice(0, KEPT) : [];
  } catch {
    return []; // no storage, or foreign data in it
  }
}

export function rememberSearch(found: Found): void {
  const others = recentSearches().filter(({ kind, value }) => kind !== found.kind || value !== found.value);
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([found, ...others].slice(0, KEPT)));
  } catch {
    // Searches are not remembered if the visitor blocks storage.
  }
}

function isFound(value: unknown): value is Found {
  return typeof value === 'object' && value !== null && 'kind' in value && 'value' in value;
}
