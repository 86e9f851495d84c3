/** The frame of every page: brand, menu, and page-specific items. */
import type { ComponentChildren } from 'preact';
import { Mark } from './icons.tsx';
import { Link } from './link.tsx';
import { metaContent } from './router.ts';

const MENU = [
  { title: 'Home', to: '/' },
  { title: 'Tokens', to: '/tokens' },
  { title: 'Large transfers', to: '/large' },
  { title: 'Live', to: '/live' },
  { title: 'API docs', to: '/docs' },
  ...(metaContent('panel') === '' ? [] : [{ title: 'Panel', to: '/admin' }]),
];

interface TopProps {
  /** Path of the active menu entry. */
  current: string;
  /** Bar items: search, state, key. */
  bar?: ComponentChildren;
}

/** The bar of a page that already has its `main`. */
export function Top({ current, bar }: TopProps) {
  const skip = (event: Event) => {
    event.preventDefault();
    document.querySelector('main')?.focus();
  };
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: the script leads to a place in the page, since the URL is relative */}
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="top">
        <Link to="/" class="brand">
          <Mark />
          <span>atlas</span>
        </Link>
        <nav class="menu" aria-label="Pages">
          {MENU.map(({ title, to }) => (
            <Link key={to} to={to} current={to === current}>
              {title}
            </Link>
          ))}
        </nav>
        {bar}
      </header>
    </>
  );
}

export function Frame({ children, ...top }: TopProps & { children: ComponentChildren }) {
  return (
    <>
      <Top {...top} />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
