/** The explorer: the view that the page's address names, and the key it asks with. */
import { byId, replace } from '../ui/dom.js';
import { Api } from './api.js';
import { blockView } from './block-view.js';
import { showChainState } from './chain-state.js';
import { findView, unknownView } from './find-view.js';
import { homeView } from './home-view.js';
import { keyForm, keyInUse } from './key-form.js';
import { giveKeyToOpenedTabs, takeKeyFromOpeningTab } from './key-handover.js';
import { RequestThrottle } from './request-throttle.js';
import { findLink, parseRoute } from './route.js';
import { scrollPlace } from './scroll-place.js';
import { forgetKey, readKey, saveKey } from './stored-key.js';
import { refreshTimes } from './time-view.js';
import { tokenView } from './token-view.js';
import { transactionView } from './transaction-view.js';
import { visitorMessage } from './visitor-message.js';
import { walletView } from './wallet-view.js';

/**
 * @typedef {object} MountedView
 * @property {string} title
 * @property {import('../ui/dom.js').Child} content
 * @property {(route: import('./route.js').Route) => void} update called when only the settings of the route changed
 * @property {() => void} [onReorg] called when a reorganisation took blocks back
 */

const VIEWS = {
  home: homeView,
  find: findView,
  wallet: walletView,
  token: tokenView,
  transaction: transactionView,
  block: blockView,
  unknown: unknownView,
};

const main = byId('main');
const place = scrollPlace(main);
const keyPlace = byId('key');
const throttle = new RequestThrottle((seconds) => {
  byId('pace').textContent =
    seconds === 0 ? '' : `This key is over its rate limit. Continuing in ${seconds} s.`;
});

/** @type {{ route: import('./route.js').Route, shown: MountedView, end: AbortController } | null} */
let current = null;
/** The symbol of the native coin is a setting of the server. */
const coin = document.querySelector('meta[name="coin"]')?.getAttribute('content') ?? '';

/** @param {string} [problem] */
function show(problem = '') {
  const route = parseRoute(location.hash);
  const key = readKey();
  if (key === '' || problem !== '') return askForKey(problem);
  if (current !== null && current.route.view === route.view && current.route.subject === route.subject) {
    current.shown.update(route);
    current.route = route;
    return place.show(route.section);
  }
  unmount();
  const end = new AbortController();
  const view = {
    api: new Api(key, throttle),
    key,
    coin,
    signal: end.signal,
    onRefusedKey: (/** @type {Error} */ error) => show(visitorMessage(error)),
  };
  const shown = VIEWS[route.view](view, route);
  current = { route, shown, end };
  document.title = `${shown.title} – atlas-node`;
  replace(keyPlace, keyInUse(key, forget));
  replace(main, shown.content);
  main.focus({ preventScroll: true }); // whoever uses the keyboard goes on where the new view begins
  scroll(0, 0);
  place.show(route.section);
}

/** @param {string} problem */
function askForKey(problem) {
  unmount();
  forgetKey();
  document.title = 'Explorer – atlas-node';
  replace(keyPlace);
  const form = keyForm(problem, useKey);
  replace(main, form);
  form.querySelector('input')?.focus();
}

/** @param {string} key */
function useKey(key) {
  saveKey(key);
  show();
}

function forget() {
  forgetKey();
  show();
}

function unmount() {
  place.leave();
  current?.end.abort();
  current = null;
}

const query = /** @type {HTMLInputElement} */ (byId('query'));
byId('search').addEventListener('submit', (event) => {
  event.preventDefault();
  if (query.value.trim() === '') return query.focus();
  location.hash = findLink(query.value);
  query.value = '';
});
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener('hashchange', () => show());
showChainState(byId('chain'), () => current?.shown.onReorg?.());
refreshTimes(main);
giveKeyToOpenedTabs(readKey);
if (readKey() === '') {
  await takeKeyFromOpeningTab((key) => {
    if (readKey() === '') useKey(key);
  });
}
if (current === null) show();
