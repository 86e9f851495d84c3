/** The panel: signing in, and the part that the page's address names. */

import { ApiError, errorMessage } from '../ui/api-error.js';
import { byId, h, replace } from '../ui/dom.js';
import { callAdminApi } from './admin-api.js';
import { configView } from './config-view.js';
import { indexView } from './index-view.js';
import { keysView } from './keys-view.js';
import { signInForm } from './sign-in.js';
import { socketsView } from './sockets-view.js';

/**
 * @typedef {object} ViewContext what a part needs of the panel
 * @property {AbortSignal} signal ends with the part
 * @property {(error: unknown) => void} onFailure null when all is well again
 */

/** @type {Record<string, { title: string, show: (view: ViewContext) => HTMLElement }>} */
const PARTS = {
  keys: { title: 'Keys', show: keysView },
  index: { title: 'Index', show: indexView },
  sockets: { title: 'Sockets', show: socketsView },
  config: { title: 'Settings', show: configView },
};
const FIRST = 'keys';

const main = byId('main');
let current = new AbortController();

function show() {
  current.abort();
  current = new AbortController();
  const named = location.hash.replace(/^#\/?/, '');
  const name = Object.hasOwn(PARTS, named) ? named : FIRST;
  const part = PARTS[name];
  if (part === undefined) return;
  document.title = `${part.title} – atlas-node`;
  showProblem('');
  replace(
    byId('nav'),
    Object.entries(PARTS).map(([key, { title }]) => link(key, title, key === name)),
  );
  replace(byId('session'), h('button', { type: 'button', class: 'copy', onclick: signOut }, 'Sign out'));
  replace(main, part.show({ signal: current.signal, onFailure }));
  main.focus(); // whoever uses the keyboard goes on where the new part begins
}

/**
 * @param {string} key
 * @param {string} title
 * @param {boolean} isHere
 */
function link(key, title, isHere) {
  return h('a', { href: `#/${key}`, 'aria-current': isHere ? 'page' : null }, title);
}

/** @param {unknown} error */
function onFailure(error) {
  if (error === null) return showProblem('');
  if (error instanceof ApiError && error.status === 401) return askForToken();
  if (!(error instanceof ApiError)) console.error(error);
  showProblem(errorMessage(error));
}

/** @param {string} text */
function showProblem(text) {
  const place = byId('trouble');
  if (place.textContent !== text) place.textContent = text;
}

function askForToken() {
  current.abort();
  document.title = 'Sign in – atlas-node';
  showProblem('');
  replace(byId('nav'));
  replace(byId('session'));
  const form = signInForm(show);
  replace(main, form);
  form.querySelector('input')?.focus();
}

async function signOut() {
  await callAdminApi('DELETE', 'session').then(askForToken, onFailure); // a session that lives on must not seem ended
}

addEventListener('hashchange', async () => {
  if (byId('nav').childElementCount > 0) show();
});
await callAdminApi('GET', 'session').then(
  (/** @type {{ signedIn: boolean }} */ { signedIn }) => (signedIn ? show() : askForToken()),
  onFailure,
);
