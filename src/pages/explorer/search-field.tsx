/** The search field in the bar. */
import { useEffect, useRef } from 'preact/hooks';
import { searchPath } from '../ui/links.ts';
import { navigate } from '../ui/router.ts';

export function SearchField() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing =
        event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const text = input.current?.value.trim() ?? '';
    if (text !== '') navigate(searchPath(text));
  };
  return (
    <search class="search">
      <form onSubmit={submit}>
        <input
          ref={input}
          type="search"
          aria-label="Search"
          placeholder="Address, token, hash, block or name ( / )"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
        />
      </form>
    </search>
  );
}
