/** Windows in front of the page: a question, and a key that is shown once. */
import { copyButton } from '../ui/copy-button.js';
import { h } from '../ui/dom.js';
import { NAME_CHARS, safeName } from '../ui/format.js';

/**
 * Asks before something that cannot be undone; the cautious answer has the focus.
 * @param {{ title: string, text: string, action: string }} question
 * @returns {Promise<boolean>}
 */
export function askToConfirm({ title, text, action }) {
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'question' },
      h(
        'form',
        { method: 'dialog' },
        h('h2', { id: 'question' }, title),
        h('p', {}, text),
        h(
          'div',
          { class: 'buttons end' },
          h('button', { class: 'button', value: 'no', autofocus: true }, 'Cancel'),
          h('button', { class: 'button danger', value: 'yes' }, action),
        ),
      ),
    );
    openDialog(dialog, () => resolve(dialog.returnValue === 'yes'));
  });
}

/**
 * Shows a new key until it was put away; Escape does not lose it, also not when it is pressed again and again.
 * @param {import('./api-types.js').Issued} issued
 * @returns {Promise<void>}
 */
export function showKeyOnce({ key, record }) {
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'new-key', closedby: 'none' },
      h(
        'form',
        { method: 'dialog' },
        h('h2', { id: 'new-key' }, `The key of ${safeName(record.name, NAME_CHARS)}`),
        h('p', {}, 'It is shown only once and never stored. Send it to its owner over a secure channel.'),
        h('p', { class: 'secret mono' }, key),
        h(
          'div',
          { class: 'buttons' },
          copyButton(() => key, 'the key', { class: 'button main', label: 'Copy key' }),
          h('button', { class: 'button', value: 'done' }, 'I have it, close'),
        ),
      ),
    );
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    openDialog(dialog, () => resolve());
  });
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {() => void} onClose
 */
function openDialog(dialog, onClose) {
  dialog.addEventListener('close', () => {
    dialog.remove();
    onClose();
  });
  document.body.append(dialog);
  dialog.showModal();
}
