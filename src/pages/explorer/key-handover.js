/**
 * A link opened in a new tab takes the key along: from tab to tab, in memory. A tab gives its key only after its visitor did
 * what opens a link elsewhere, once for that link and only for a while: who else asks, a tab opened by hand or another
 * page of this origin, gets nothing. Below a path of a proxy other programs share the origin and could listen: there each
 * tab asks the visitor.
 */
import { urlOf } from '../ui/base-url.js';

const CHANNEL = 'atlas-explorer-key';

/** How long a menu may stand open, and a slow network take, until the tab of a link asks, milliseconds. */
const GIVE_MS = 60_000;

/** How long an answer may take: before the visitor is asked, and at all. A tab in the background may be slow. */
const PATIENCE_MS = 150;
const TAKE_MS = 10_000;

/**
 * Gives the key to tabs that are opened from links of this page.
 * @param {() => string} readKey empty when there is none
 */
export function giveKeyToOpenedTabs(readKey) {
  /** @param {Event} event */
  const onOpening = ({ target, isTrusted }) => {
    const link = target instanceof Element ? target.closest('a[href^="#"]') : null;
    if (link !== null && isTrusted)
      give(new URL(link.getAttribute('href') ?? '', location.href).href, readKey);
  };
  addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) onOpening(event);
  });
  for (const type of ['auxclick', 'contextmenu', 'dragstart']) addEventListener(type, onOpening);
}

/**
 * @param {string} url
 * @param {() => string} readKey
 */
function give(url, readKey) {
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
 * Asks the tab where the link to this one was opened. Resolves when the key came, or so late that the visitor is better
 * asked for it; it may still come then.
 * @param {(key: string) => void} onKey
 * @returns {Promise<void>}
 */
export function takeKeyFromOpeningTab(onKey) {
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

/** Null where there is none: browsers forbid it where the visitor blocks cookies. */
function openChannel() {
  if (new URL(urlOf('')).pathname !== '/') return null;
  try {
    return new BroadcastChannel(CHANNEL);
  } catch {
    return null;
  }
}
