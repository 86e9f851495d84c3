/** Asking for the visitor's API key, and what stands in its place once there is one. */
import { h } from '../ui/dom.js';
import { keyHint } from './stored-key.js';

/**
 * @param {string} problem why the key is asked for again, or empty
 * @param {(key: string) => void} onKey
 */
export function keyForm(problem, onKey) {
  const input = h('input', {
    type: 'password',
    name: 'key',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    placeholder: 'atlas_…',
    'aria-describedby': problem === '' ? null : 'key-trouble',
  });
  const form = h(
    'form',
    { class: 'key-form' },
    h('h1', {}, 'Your API key, please'),
    h(
      'p',
      { class: 'soft' },
      'The explorer asks the API of this server with your key. It stays in this tab and those opened from it, and is forgotten when they are closed.',
    ),
    problem === '' ? null : h('p', { id: 'key-trouble', class: 'notice bad', role: 'alert' }, problem),
    h('label', { class: 'field' }, 'API key', input),
    h('button', { type: 'submit', class: 'button main' }, 'Use this key'),
    h('p', { class: 'soft small' }, 'Keys are issued by the operator of this server.'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = input.value.trim();
    if (key !== '') onKey(key);
  });
  return form;
}

/**
 * @param {string} key
 * @param {() => void} onForget
 */
export function keyInUse(key, onForget) {
  return [
    h('span', { class: 'mono small soft' }, keyHint(key)),
    h('button', { type: 'button', class: 'copy', onclick: onForget }, 'Forget key'),
  ];
}
