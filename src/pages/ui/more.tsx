/** The end of a list: a button for the next page, or why there is none. */
import type { Pages } from '../client/use-pages.ts';

export function More<T>({ pages }: { pages: Pages<T> }) {
  if (pages.isCut)
    return (
      <p class="pager soft small">
        The list ends here to keep the page fast. Use filters to find other entries.
      </p>
    );
  if (pages.more === null) return null;
  return (
    <p class="pager">
      <button type="button" class="button" disabled={pages.loading} onClick={pages.more}>
        {pages.loading ? 'Loading …' : 'Load more'}
      </button>
    </p>
  );
}
