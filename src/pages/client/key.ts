/**
 * The visitor's API key. Each tab keeps its own. A link opened in a new tab takes the key along, from tab to tab in
 * memory: a tab hands over its key only after its visitor's click or key press that opens a link elsewhere, once per
 * link and for a minute. Below a proxy's path prefix other programs share the origin and could listen, so there each
 * tab asks the visitor.
 */
import { href, metaContent } from '../ui/router.ts';

const STORAGE_KEY = 'atlas-api-key';
const CHANNEL = 'atlas-explorer-key';

/** A menu may stay open, and a network be slow, until the link's tab asks. */
const GIVE_MS = 60_000;

/** How long to wait for an answer before asking the visitor. */
const PATIENCE_MS = 150;
const TAKE_MS = 10_000;

/** Stands for a key if the operator lets visitors in without one; else empty. */
export const PUBLIC_KEY = metaContent('key');

/** For browsers that allow no storage: the key lives as long as the page. */
let unstored = '';

/** The visitor's own key, else the public one; empty if there is none. */
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
 * Takes the key from a link that ends with `#key=...`, as printed by `atlas-node dev`. Fragments are not sent to
 * servers, and the key is removed from address bar and history.
 */
export function takeKeyFromFragment(): void {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key === null) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  if (key !== '') saveKey(key);
}

/** Null if the visitor blocks cookies: browsers then forbid any access to storage. */
function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** Hands the key to tabs opened from links of this page. */
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
 * Asks the tab where the link to this tab was opened. Resolves when the key arrived, or when it is time to ask the
 * visitor; the key may still arrive later.
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
