/** Searches all sections. Hides those that lack a word, and their links. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { countText } from '../ui/format.ts';

export function DocsSearch() {
  const [found, setFound] = useState<number | null>(null);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <search>
      <input
        ref={input}
        type="search"
        aria-label="Search the documentation"
        placeholder="Search ( / )"
        onInput={({ currentTarget }) => setFound(filterSections(currentTarget.value))}
      />
      <p class="small soft" role="status">
        {found !== null && (found === 0 ? 'No results.' : `${countText(found, 'section')} with all words.`)}
      </p>
    </search>
  );
}

/** Returns how many sections contain all words; null for an empty search. */
function filterSections(text: string): number | null {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const section of document.querySelectorAll<HTMLElement>('main > section')) {
    const content = section.textContent?.toLowerCase() ?? '';
    section.hidden = !words.every((word) => content.includes(word));
    if (!section.hidden) found++;
    const link = document.querySelector(`nav a[href="#${section.id}"]`)?.parentElement;
    if (link) link.hidden = section.hidden;
  }
  return words.length === 0 ? null : found;
}
