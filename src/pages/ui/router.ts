/**
 * Client-side routing. Links are relative to the root of the service, which may lie below a proxy's path prefix: the
 * server writes into the page how far up the root is.
 */
import { useEffect, useState } from 'preact/hooks';

/** The root of the service, with a trailing slash. */
const ROOT = new URL(metaContent('root') || './', location.href);

/** Dispatched on `window` when the URL changes without a page load. */
const CHANGED = 'atlas-address';

export interface Place {
  /** Path below the root, such as `/address/0x…`. */
  path: string;
  params: URLSearchParams;
}

/** A value that the server wrote into the page. */
export function metaContent(name: string): string {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';
}

/** The URL of a path of the service. The path starts with a slash. */
export function href(path: string): string {
  return new URL(path.slice(1), ROOT).href;
}

export function socketUrl(path: string): string {
  return href(path).replace(/^http/, 'ws');
}

function currentPlace(): Place {
  const path = decodeURI(location.pathname.slice(ROOT.pathname.length - 1));
  return { path, params: new URLSearchParams(location.search) };
}

/** Navigates to a path of the page. `replace` adds no history entry. */
export function navigate(path: string, { replace = false } = {}): void {
  const url = href(path);
  if (url !== location.href) {
    if (!replace) history.replaceState({ scroll: scrollY }, '');
    history[replace ? 'replaceState' : 'pushState']({}, '', url);
  }
  dispatchEvent(new Event(CHANGED));
}

/** Changes parameters of the current URL; null removes one. */
export function setParams(changes: Record<string, string | null>, options?: { replace?: boolean }): void {
  navigate(pathWith(changes), options);
}

/** The current path with other parameters, as a link. */
function pathWith(changes: Record<string, string | null>): string {
  const { path, params } = currentPlace();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) params.delete(name);
    else params.set(name, value);
  }
  return `${path}${params.size === 0 ? '' : `?${params}`}`;
}

export function usePlace(): Place {
  const [place, setPlace] = useState(currentPlace);
  useEffect(() => {
    const update = () => setPlace(currentPlace());
    addEventListener('popstate', update);
    addEventListener(CHANGED, update);
    return () => {
      removeEventListener('popstate', update);
      removeEventListener(CHANGED, update);
    };
  }, []);
  return place;
}

/** Follows links to paths that this page shows without loading a page. */
export function interceptLinks(isOwn: (path: string) => boolean): void {
  addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.hasAttribute('download') || link.target !== '') return;
    const url = new URL(link.getAttribute('href') ?? '', location.href);
    const path = url.pathname.slice(ROOT.pathname.length - 1);
    if (
      url.origin !== ROOT.origin ||
      !url.pathname.startsWith(ROOT.pathname) ||
      url.hash !== '' ||
      !isOwn(path)
    )
      return;
    event.preventDefault();
    navigate(path + url.search);
  });
}

/** Sets the title of the browser tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · atlas`;
  }, [title]);
}
