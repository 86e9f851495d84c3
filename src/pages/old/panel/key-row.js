/** A key as a row that is kept up to date, so that a button in it keeps its focus. */
import { h, replace } from '../ui/dom.js';
import { dateTime, grouped, NAME_CHARS, safeName } from '../ui/format.js';
import { meter } from '../ui/meter.js';

/** @typedef {import('./api-types.js').ListedKey} ListedKey */

/**
 * @param {ListedKey} first
 * @param {{ onRotate: (key: ListedKey) => void, onRevoke: (key: ListedKey) => void, onUsage: (key: ListedKey) => void }} actions
 */
export function keyRow(first, { onRotate, onRevoke, onUsage }) {
  let key = first;
  const hint = h('span', { class: 'mono nowrap' });
  const state = h('td', { class: 'state' });
  const usage = h('td', { class: 'usage' });
  const name = safeName(first.name, NAME_CHARS);
  /**
   * @param {string} text
   * @param {(key: ListedKey) => void} action
   */
  const button = (text, action) =>
    h(
      'button',
      { type: 'button', class: 'copy', 'aria-label': `${text} ${name}`, onclick: () => action(key) },
      text,
    );
  const buttons = [button('Usage', onUsage), button('Rotate', onRotate), button('Revoke', onRevoke)];
  const row = h(
    'tr',
    {},
    h('td', { class: 'number no', 'data-title': 'No.' }, first.id),
    h('td', { class: 'who' }, h('bdi', { class: 'name', title: first.name }, name), ' ', hint),
    h('td', { class: 'tier' }, first.tier),
    usage,
    state,
    h('td', { class: 'actions' }, buttons),
  );

  /** @param {ListedKey} next */
  const update = (next) => {
    key = next;
    hint.textContent = `${next.hint}…`;
    replace(usage, usageView(next));
    replace(state, stateView(next));
    row.classList.toggle('revoked', next.revokedAt !== null);
    const held = buttons.some((one) => one === document.activeElement);
    for (const one of buttons.slice(1)) one.hidden = next.revokedAt !== null;
    if (held && next.revokedAt !== null) buttons[0]?.focus(); // one that is hidden loses the focus
  };
  /** What the key can be found by, in lower case. */
  const text = () => {
    const state = key.revokedAt === null ? '' : 'revoked';
    return [key.id, name, key.hint, key.tier, state].join(' ').toLowerCase();
  };
  update(first);
  return { row, update, text };
}

/** @param {ListedKey} key */
function usageView({ requestsThisMonth, requestsPerMonth }) {
  if (requestsPerMonth === 0)
    return [`${grouped(requestsThisMonth)} `, h('span', { class: 'soft' }, 'without a quota')];
  return [
    `${grouped(requestsThisMonth)} `,
    h('span', { class: 'soft' }, `of ${grouped(requestsPerMonth)}`),
    meter(requestsThisMonth / requestsPerMonth, 'Used this month'),
  ];
}

/** @param {ListedKey} key */
function stateView({ createdAt, rotatedAt, revokedAt }) {
  const [text, at] =
    revokedAt !== null
      ? ['revoked', revokedAt]
      : rotatedAt !== null
        ? ['rotated', rotatedAt]
        : ['created', createdAt];
  return h(
    'span',
    { class: 'nowrap date', title: `created ${dateTime(createdAt)} UTC` },
    `${text} ${dateTime(at).slice(0, 16)}`,
  );
}
