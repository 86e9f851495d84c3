/** One part of a view: its title, its content once it was asked for, the requests behind it, or what went wrong. */

import { announce } from '../ui/announce.js';
import { ApiError } from '../ui/api-error.js';
import { h, replace } from '../ui/dom.js';
import { keepFocus } from '../ui/keep-focus.js';
import { exchangeView } from './exchange-view.js';
import { visitorMessage } from './visitor-message.js';

const LOADING = 'Asking …';

/**
 * How long before the server is asked again while its index is empty or it cannot be reached. Of an empty one it is asked
 * less and less often: its answers count against the key.
 */
const RETRY_MS = 3000;
const MAX_RETRY_MS = 60_000;

/** The parts of a view come about together and are announced so. */
const GATHER_MS = 300;

/** How far below the window a part is asked for already. */
const PRELOAD_MARGIN = '400px';

/**
 * @typedef {object} ViewContext what a part needs of the view it is in
 * @property {import('./api.js').Api} api
 * @property {string} key
 * @property {string} coin symbol of the native coin
 * @property {AbortSignal} signal ends with the view
 * @property {(error: ApiError) => void} onRefusedKey
 */

/**
 * @typedef {object} PartContent
 * @property {import('../ui/dom.js').Child} content
 * @property {import('./api.js').Exchange[]} exchanges
 */

/**
 * @typedef {object} SectionOptions
 * @property {string} id
 * @property {string} title
 * @property {string} note one sentence about what is to be seen
 * @property {(signal: AbortSignal) => Promise<PartContent>} load the signal ends with the view, or when the part is loaded anew
 * @property {boolean} [eager] asked for at once and not only when it comes into sight
 * @property {number} [refreshMs] asked for anew so often, unless nobody sees it or the pointer or the focus is in it
 */

/**
 * @param {ViewContext} view
 * @param {SectionOptions} options
 * @returns {{ element: HTMLElement, reload: () => Promise<void> }}
 */
export function section(view, { id, title, note, load, eager = false, refreshMs }) {
  const body = h('div', { class: 'body' }, h('p', { class: 'loading' }, LOADING));
  const exchanges = h('div', { class: 'exchanges' });
  const element = h(
    'section',
    { id, class: 'part', 'aria-labelledby': `${id}-title`, tabindex: -1 },
    h('header', {}, h('h2', { id: `${id}-title` }, title), h('p', { class: 'soft' }, note)),
    body,
    exchanges,
  );

  let timer = 0;
  let emptyRetryMs = RETRY_MS;
  /** What is said in place of the content: said again it would be read out again. */
  let shownMessage = LOADING;

  let loading = new AbortController();
  view.signal.addEventListener('abort', () => loading.abort());

  const reload = async () => {
    loading.abort(); // its answer could come after the newer one
    loading = new AbortController();
    clearTimeout(timer);
    const { signal } = loading;
    body.ariaBusy = 'true';
    try {
      const shown = await load(signal);
      if (signal.aborted) return;
      if (shownMessage !== '' && shown.content !== null) announceLoaded(title);
      shownMessage = '';
      keepFocus(element, () => {
        replace(body, shown.content);
        replace(
          exchanges,
          shown.exchanges.map((exchange) => exchangeView(exchange, view.key)),
        );
      });
      if (refreshMs !== undefined) schedule(refresh, refreshMs);
    } catch (error) {
      if (signal.aborted) return;
      showProblem(error);
    }
    element.dataset['state'] = 'shown';
    body.ariaBusy = null;
  };

  /**
   * @param {() => void} run
   * @param {number} ms
   */
  const schedule = (run, ms) => {
    clearTimeout(timer);
    timer = setTimeout(() => view.signal.aborted || run(), ms);
  };

  const retry = () => {
    if (document.hidden) schedule(retry, RETRY_MS);
    else void reload();
  };

  const refresh = () => {
    const inUse = element.contains(document.activeElement) || element.matches(':hover');
    if (document.hidden || inUse) schedule(refresh, refreshMs ?? 0);
    else void reload();
  };

  /** @param {unknown} error */
  const showProblem = (error) => {
    if (error instanceof ApiError && error.code === 'unauthorized') return view.onRefusedKey(error);
    if (!(error instanceof ApiError)) console.error(error);
    const notReady = error instanceof ApiError && error.code === 'not_ready';
    if (notReady) {
      schedule(retry, emptyRetryMs);
      emptyRetryMs = Math.min(MAX_RETRY_MS, emptyRetryMs * 2);
    } else if (error instanceof ApiError && error.code === 'unreachable') schedule(retry, RETRY_MS);
    const words = visitorMessage(error);
    if (words === shownMessage) return;
    shownMessage = words;
    const again = h('button', { type: 'button', class: 'button compact', onclick: reload }, 'Retry');
    keepFocus(element, () => {
      replace(
        body,
        h(
          'div',
          { class: notReady ? 'notice wait' : 'notice bad', role: 'alert' },
          h('p', {}, words),
          notReady ? null : again,
        ),
      );
      replace(exchanges);
    });
  };

  if (eager) void reload();
  else onceVisible(element, view.signal, reload);
  return { element, reload };
}

/** @type {string[]} */
let loadedTitles = [];

/** @param {string} title */
function announceLoaded(title) {
  if (loadedTitles.push(title) > 1) return;
  setTimeout(() => {
    announce(`Loaded: ${loadedTitles.join(', ')}`);
    loadedTitles = [];
  }, GATHER_MS);
}

/**
 * @param {string} text
 */
export function notice(text) {
  return h('p', { class: 'notice' }, text);
}

/**
 * @param {Element} element
 * @param {AbortSignal} signal
 * @param {() => void} then
 */
function onceVisible(element, signal, then) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      then();
    },
    { rootMargin: PRELOAD_MARGIN },
  );
  observer.observe(element);
  signal.addEventListener('abort', () => observer.disconnect());
}
