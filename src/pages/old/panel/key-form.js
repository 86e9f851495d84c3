/** The form for a new key. */

import { errorMessage } from '../ui/api-error.js';
import { h, replace } from '../ui/dom.js';
import { grouped } from '../ui/format.js';
import { callAdminApi } from './admin-api.js';
import { showKeyOnce } from './dialog.js';

/**
 * @param {() => Promise<void>} onCreated
 */
export function keyForm(onCreated) {
  const name = h('input', {
    name: 'name',
    required: true,
    maxlength: 200,
    autocomplete: 'off',
    placeholder: 'Whose key it is',
  });
  const tier = h('select', { name: 'tier' });
  const problem = h('p', { class: 'notice bad', role: 'alert', hidden: true });
  const button = h('button', { type: 'submit', class: 'button main' }, 'Create key');
  const form = h(
    'form',
    { class: 'key-form' },
    h('label', { class: 'field' }, 'Name', name),
    h('label', { class: 'field' }, 'Tier', tier),
    button,
    problem,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true'; // one that is disabled loses the focus
    problem.hidden = true;
    try {
      const issued = await callAdminApi('POST', 'keys', { name: name.value, tier: tier.value });
      name.value = '';
      await Promise.all([showKeyOnce(issued), onCreated()]);
    } catch (error) {
      problem.textContent = errorMessage(error);
      problem.hidden = false;
    } finally {
      button.ariaDisabled = null;
    }
  });
  let offered = '';
  return {
    form,
    /** @param {import('./api-types.js').Tier[]} tiers */
    setTiers(tiers) {
      const texts = tiers.map(tierText);
      if (texts.join() === offered) return;
      offered = texts.join();
      replace(
        tier,
        tiers.map((one, i) => h('option', { value: one.name }, texts[i])),
      );
    },
  };
}

/** @param {import('./api-types.js').Tier} tier */
function tierText({ name, requestsPerMonth, requestsPerSecond }) {
  const month = requestsPerMonth === 0 ? 'no quota' : `${grouped(requestsPerMonth)} a month`;
  const second = requestsPerSecond === 0 ? 'no rate limit' : `${grouped(requestsPerSecond)} a second`;
  return `${name}: ${month}, ${second}`;
}
