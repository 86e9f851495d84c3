/**
 * What is in the query editor, and what saved queries took the place of there. Both stay while the tab is open: another
 * part of the panel takes the place of the editor in the page.
 */
import { useState } from 'preact/hooks';
import type { SavedQuery } from './saved-queries.ts';

const DRAFT_KEY = 'atlas-query-draft';
const REPLACED_KEY = 'atlas-replaced-drafts';
const MOST_REPLACED = 20;

export function useDraft(saved: readonly SavedQuery[]) {
  const [query, setQuery] = useState(() => stored(DRAFT_KEY) ?? saved[0]?.query ?? '');
  const [replaced, setReplaced] = useState(readReplaced);
  const edit = (changed: string) => {
    setQuery(changed);
    store(DRAFT_KEY, changed);
  };
  const keep = (drafts: readonly string[]) => {
    const kept = [...new Set(drafts)].slice(0, MOST_REPLACED);
    setReplaced(kept);
    store(REPLACED_KEY, JSON.stringify(kept));
  };
  const isUnsaved = query.trim() !== '' && !saved.some((one) => one.query === query);
  const unsaved = isUnsaved ? [query] : [];
  const [last, ...earlier] = replaced;
  return {
    query,
    edit,
    /** Puts a saved query into the editor, and keeps what it takes the place of. */
    choose(chosen: string) {
      keep([...unsaved, ...replaced]);
      edit(chosen);
    },
    /** Brings back what was replaced last; null without. What it replaces in turn comes back after the others. */
    restore:
      last === undefined
        ? null
        : () => {
            keep([...earlier, ...unsaved]);
            edit(last);
          },
  };
}

function readReplaced(): readonly string[] {
  try {
    const drafts: unknown = JSON.parse(stored(REPLACED_KEY) ?? '[]');
    return Array.isArray(drafts) ? drafts.filter((draft) => typeof draft === 'string') : [];
  } catch {
    return [];
  }
}

function stored(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key: string, value: string): void {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // a browser without storage forgets it with the page
  }
}
