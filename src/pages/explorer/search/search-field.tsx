/** The search field in the bar: suggestions while typing, recent searches before that. The key `/` focuses it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../../client/api.ts';
import { searchPath } from '../../ui/link.tsx';
import { navigate } from '../../ui/router.ts';
import { recentSearches, rememberSearch } from './recent-searches.ts';
import { type Found, namesOnePage, pathOf } from './resolve.ts';
import { ResultText } from './search-page.tsx';

/** Delay after the last keystroke before suggestions are requested. */
const TYPING_MS = 250;
const MIN_CHARACTERS = 2;
const SUGGESTED = 8;

/** Preact's types know a combobox only with a datalist. */
function combobox(isShown: boolean, active: number): object {
  return {
    role: 'combobox',
    'aria-expanded': isShown,
    'aria-controls': 'suggestions',
    'aria-activedescendant': isShown && active >= 0 ? `suggestion-${active}` : undefined,
  };
}

/** Without a key there are no suggestions. */
export function SearchField({ api }: { api: Api | null }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const suggested = useSuggestions(api, text);
  useSlashKey(() => input.current?.focus());
  const results = text.trim() === '' ? recentSearches() : suggested;
  const isShown = isOpen && results.length > 0;

  const leave = () => {
    setOpen(false);
    setActive(-1);
    setText('');
    input.current?.blur();
  };
  const open = (found: Found) => {
    rememberSearch(found);
    leave();
    navigate(pathOf(found));
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const chosen = isShown ? results[active] : undefined;
    if (chosen !== undefined) return open(chosen);
    const typed = text.trim();
    if (typed === '') return;
    leave();
    navigate(searchPath(typed));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') setOpen(false);
    if (step === undefined || !isShown) return;
    event.preventDefault();
    setActive((active + step + results.length + (active < 0 && step < 0 ? 1 : 0)) % results.length);
  };
  return (
    <search class="search">
      <form onSubmit={submit}>
        <input
          ref={input}
          type="search"
          {...combobox(isShown, active)}
          aria-label="Search"
          placeholder="Address, token, hash, block or name"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setActive(-1);
            setOpen(true);
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        <kbd title="Press / to search">/</kbd>
      </form>
      <div id="suggestions" role="listbox" aria-label="Suggestions" hidden={!isShown}>
        {results.map((found, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the active suggestion
          <div
            key={`${found.kind} ${found.value}`}
            id={`suggestion-${i}`}
            role="option"
            aria-selected={i === active}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => open(found)}
          >
            <ResultText result={found} />
          </div>
        ))}
      </div>
    </search>
  );
}

function useSlashKey(focus: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

/** The API's suggestions for a text; none while it is short, or is an address or a number by itself. */
function useSuggestions(api: Api | null, text: string): readonly Found[] {
  const [found, setFound] = useState<readonly Found[]>([]);
  useEffect(() => {
    const typed = text.trim();
    setFound([]);
    if (api === null || typed.length < MIN_CHARACTERS || namesOnePage(typed)) return;
    const ending = new AbortController();
    const timer = setTimeout(() => {
      api.get('search', { q: typed }, ending.signal).then(
        ({ data }) => setFound(data.results.slice(0, SUGGESTED)),
        () => setFound([]), // submitting the search reports the error
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [api, text]);
  return found;
}
