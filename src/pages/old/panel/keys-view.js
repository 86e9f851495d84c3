/** Keys: issuing, using, replacing and ending them. */
import { h, replace } from '../ui/dom.js';
import { dateTime, NAME_CHARS, safeName } from '../ui/format.js';
import { poll } from '../ui/poll.js';
import { callAdminApi } from './admin-api.js';
import { askToConfirm, showKeyOnce } from './dialog.js';
import { keyForm } from './key-form.js';
import { keyRow } from './key-row.js';
import { usagePart } from './usage-part.js';

const POLL_MS = 3000;

/** Keys beyond which they can be searched. */
const MANY = 20;

/** @typedef {import('./api-types.js').ListedKey} ListedKey */

/**
 * @param {import('./main.js').ViewContext} view
 */
export function keysView({ signal, onFailure, onFailedAction }) {
  /** @type {Map<number, ReturnType<typeof keyRow>>} */
  const rows = new Map();
  const body = h('tbody');
  const search = h('input', {
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-label': 'Search the keys',
    placeholder: 'Search: number, name, key, tier, “revoked”',
    hidden: true,
    oninput: () => filter(),
  });
  const none = h('p', { class: 'notice', role: 'status', hidden: true }, 'No keys match this search.');
  const month = h('p', { class: 'soft small' });
  const empty = h(
    'p',
    { class: 'notice', hidden: true },
    'There are no keys yet. Create the first one above.',
  );
  const usage = usagePart(onFailure);

  const refresh = async () => {
    try {
      /** @type {import('./api-types.js').KeyList} */
      const { keys, tiers, monthEndsAt } = await callAdminApi('GET', 'keys');
      form.setTiers(tiers);
      for (const key of keys) show(key);
      search.hidden = keys.length <= MANY;
      filter();
      empty.hidden = keys.length > 0;
      list.hidden = keys.length === 0;
      month.textContent = `Counts reset on ${dateTime(monthEndsAt).slice(0, 10)}, 00:00 UTC.`;
      onFailure(null);
    } catch (error) {
      onFailure(error);
    }
  };
  /** @param {ListedKey} key */
  const show = (key) => {
    const known = rows.get(key.id);
    if (known !== undefined) return known.update(key);
    const added = keyRow(key, { onRotate: rotate, onRevoke: revoke, onUsage: usage.show });
    rows.set(key.id, added);
    body.append(added.row);
  };
  const filter = () => {
    const wanted = search.hidden ? '' : search.value.trim().toLowerCase();
    for (const { row, text } of rows.values()) row.hidden = !text().includes(wanted);
    none.hidden = wanted === '' || [...rows.values()].some(({ row }) => !row.hidden);
  };
  /** @param {ListedKey} key */
  const rotate = async (key) => {
    const text = `The current key of ${safeName(key.name, NAME_CHARS)} stops working at once and its owner needs the new one. Name, tier and usage stay.`;
    if (!(await askToConfirm({ title: `Replace key ${key.id}?`, text, action: 'Rotate' }))) return;
    await runAction(async () => showKeyOnce(await callAdminApi('POST', `keys/${key.id}/rotate`, {})));
  };
  /** @param {ListedKey} key */
  const revoke = async (key) => {
    const text = `The key of ${safeName(key.name, NAME_CHARS)} stops working at once and its sockets are closed. This cannot be undone.`;
    if (!(await askToConfirm({ title: `Revoke key ${key.id}?`, text, action: 'Revoke' }))) return;
    await runAction(() => callAdminApi('POST', `keys/${key.id}/revoke`, {}));
  };
  /** @param {() => Promise<unknown>} action */
  const runAction = async (action) => {
    await action().then(refresh, onFailedAction);
  };

  const form = keyForm(refresh);
  const list = h(
    'table',
    { class: 'table keys', hidden: true },
    h('caption', { class: 'hidden-text' }, 'Keys'),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        ['No.', 'Name and key', 'Tier', 'Requests this month', 'State, UTC', ''].map((title) =>
          h('th', { scope: 'col', class: title === 'No.' ? 'number' : null }, title),
        ),
      ),
    ),
    body,
  );
  poll(POLL_MS, signal, async () => {
    await refresh();
    await usage.refresh();
  });
  const main = h(
    'section',
    { class: 'part' },
    h('header', {}, h('h1', {}, 'Keys'), month),
    form.form,
    search,
    list,
    none,
    empty,
  );
  const content = h('div');
  replace(content, main, usage.element);
  return content;
}
