/** The panel: signing in, and the part that the page's address names. */
import '../ui/tokens.css';
import '../ui/base.css';
import '../ui/frame.css';
import '../ui/figures.css';
import './panel.css';
import { announce } from '../ui/announce.js';
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
 * @property {(error: unknown) => void} onFailure of asking for data; null when all is well again
 * @property {(error: unknown) => void} onFailedAction
 */

/** @type {Record<string, { title: string, show: (view: ViewContext) => HTMLElement }>} */
const PARTS = {
  keys: { title: 'Keys', show: keysView },
  index: { title: 'Index', show: indexView },
  sockets: { title: 'Sockets', show: socketsView },
  config: { title: 'Settings', show: configView },
};
const FIRST = 'keys';

/** How long before a server that could not be reached is asked again whether there is a session. */
const RETRY_MS = 3000;

const main = byId('main');
let current = new AbortController();

/** Title of the part that is still asked for, or empty. */
let awaited = '';

/** Polling that goes well takes back what polling met, and not why an action failed: only the next action does. */
const problems = { data: '', action: '' };

function show() {
  current.abort();
  current = new AbortController();
  const named = location.hash.replace(/^#\/?/, '');
  const name = Object.hasOwn(PARTS, named) ? named : FIRST;
  const part = PARTS[name];
  if (part === undefined) return;
  document.title = `${part.title} – atlas-node`;
  showProblems({ data: '', action: '' });
  awaited = part.title;
  replace(
    byId('nav'),
    Object.entries(PARTS).map(([key, { title }]) => link(key, title, key === name)),
  );
  replace(byId('session'), h('button', { type: 'button', class: 'copy', onclick: signOut }, 'Sign out'));
  const { signal } = current;
  replace(
    main,
    part.show({ signal, onFailure: (error) => signal.aborted || onFailure(error), onFailedAction }),
  );
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
  if (error === null) {
    if (awaited !== '') announce(`Loaded: ${awaited}`);
    awaited = '';
    return showProblems({ data: '' });
  }
  if (hasEnded(error)) return askForToken('The session has ended.');
  showProblems({ data: messageOf(error) });
}

/** @param {unknown} error */
function onFailedAction(error) {
  if (hasEnded(error)) return askForToken('The session has ended.');
  showProblems({ action: messageOf(error) });
}

/** @param {unknown} error whether it says that the session has */
function hasEnded(error) {
  return error instanceof ApiError && error.status === 401;
}

/** @param {unknown} error */
function messageOf(error) {
  if (!(error instanceof ApiError)) console.error(error);
  return errorMessage(error);
}

/** @param {Partial<typeof problems>} changed */
function showProblems(changed) {
  Object.assign(problems, changed);
  const text = problems.action || problems.data;
  const place = byId('trouble');
  if (place.textContent !== text) place.textContent = text;
}

/** @param {string} [reason] */
function askForToken(reason = '') {
  current.abort();
  document.title = 'Sign in – atlas-node';
  showProblems({ data: '', action: '' });
  replace(byId('nav'));
  replace(byId('session'));
  const form = signInForm(show, reason);
  replace(main, form);
  form.querySelector('input')?.focus();
}

async function begin() {
  await callAdminApi('GET', 'session').then(
    (/** @type {{ signedIn: boolean }} */ { signedIn }) => (signedIn ? show() : askForToken()),
    (error) => {
      onFailure(error);
      setTimeout(begin, RETRY_MS);
    },
  );
}

async function signOut() {
  await callAdminApi('DELETE', 'session').then(() => askForToken(), onFailedAction); // a session that lives on must not seem ended
}

addEventListener(
  'click',
  ({ target }) => {
    if (target instanceof Element && target.closest('button') !== null) showProblems({ action: '' });
  },
  { capture: true }, // before the button begins the action
);
addEventListener('hashchange', () => {
  if (byId('nav').childElementCount > 0) show();
});
await begin();
