/** Signing in with the operator token. */

import { errorMessage } from '../ui/api-error.js';
import { h } from '../ui/dom.js';
import { callAdminApi } from './admin-api.js';

/**
 * @param {() => void} onSignedIn
 * @param {string} reason why the token is asked for again, or empty
 */
export function signInForm(onSignedIn, reason) {
  const input = h('input', {
    type: 'password',
    name: 'token',
    autocomplete: 'current-password',
    required: true,
  });
  const problem = h('p', { class: 'notice bad', role: 'alert', hidden: reason === '' }, reason);
  const button = h('button', { type: 'submit', class: 'button main' }, 'Sign in');
  const form = h(
    'form',
    { class: 'sign-in' },
    h('h1', {}, 'Sign in'),
    h(
      'p',
      { class: 'soft' },
      'With the operator token of this server: admin_token in its configuration, or ATLAS_ADMIN_TOKEN.',
    ),
    h('label', { class: 'field' }, 'Operator token', input),
    problem,
    button,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true'; // one that is disabled loses the focus
    try {
      await callAdminApi('POST', 'session', { token: input.value });
      onSignedIn();
    } catch (error) {
      problem.textContent = errorMessage(error);
      problem.hidden = false;
      input.select();
      input.focus();
    } finally {
      button.ariaDisabled = null;
    }
  });
  return form;
}
