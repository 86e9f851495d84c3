/**
 * The visitor's API key. A tab keeps it for itself. A link opened in a new tab takes the key along, from tab to tab in
 * memory: a tab gives its key only after its visitor did what opens a link elsewhere, once for that link and for a minute.
 * Below a proxy's path prefix other programs share the origin and could listen, so there each tab asks the visitor.
 */
import { href, metaContent } from '../ui/router.ts';

const STORAGE_KEY = 'atlas-api-key';
const CHANNEL = 'atlas-explorer-key';

/** A menu may stand open, and a network be slow, until the tab of a link asks. */
const GIVE_MS = 60_000;

/** How long an answer may take before the visitor is asked, and at all. */
const PATIENCE_MS = 150;
const TAKE_MS = 10_000;

/** What stands for a key where the operator lets visitors in without one; else empty. */
export const PUBLIC_KEY = metaContent('key');

/** For browsers that allow no storage: the key lives as long as the page. */
let unstored = '';

/** The visitor's own key, else the public one; empty when there is none. */
export function readKey(): string {
  return (storage()?.getItem(STORAGE_KEY) ?? unstored) || PUBLIC_KEY;
}

export function saveKey(key: string): void {
  const place = storage();
  if (place === null) unstored = key;
  else place.setItem(STORAGE_KEY, key);
}

export function forgetKey(): void {
  storage()?.removeItem(STORAGE_KEY);
  unstored = '';
}

/**
 * Takes the key out of a link that ends with `#key=...`, as `atlas-node dev` prints. No server gets a fragment, and the
 * address bar and the history do not keep it.
 */
export function takeKeyFromFragment(): void {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key === null) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  if (key !== '') saveKey(key);
}

/** Null where the visitor blocks cookies: browsers then forbid even to look at it. */
function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** Gives the key to tabs that are opened from links of this page. */
export function giveKeyToOpenedTabs(): void {
  const onOpening = ({ target, isTrusted }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link !== null && isTrusted) give(new URL(link.getAttribute('href') ?? '', location.href).href);
  };
  addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) onOpening(event);
  });
  for (const type of ['auxclick', 'contextmenu', 'dragstart']) addEventListener(type, onOpening);
}

function give(url: string): void {
  const channel = openChannel();
  if (channel === null) return;
  setTimeout(() => channel.close(), GIVE_MS);
  channel.addEventListener('message', ({ data }) => {
    if (data?.ask !== url) return;
    channel.postMessage({ for: data.id, key: readKey() });
    channel.close();
  });
}

/**
 * Asks the tab where the link to this one was opened. Resolves when the key came, or when the visitor is better asked for
 * it; it may still come then.
 */
export function takeKeyFromOpeningTab(onKey: (key: string) => void): Promise<void> {
  const channel = openChannel();
  if (channel === null) return Promise.resolve();
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-');
  return new Promise((resolve) => {
    setTimeout(resolve, PATIENCE_MS);
    setTimeout(() => channel.close(), TAKE_MS);
    channel.addEventListener('message', ({ data }) => {
      if (data?.for !== id || typeof data.key !== 'string' || data.key === '') return;
      channel.close();
      onKey(data.key);
      resolve();
    });
    channel.postMessage({ ask: location.href, id });
  });
}

function openChannel(): BroadcastChannel | null {
  if (new URL(href('/')).pathname !== '/') return null;
  try {
    return new BroadcastChannel(CHANNEL);
  } catch {
    return null;
  }
}
