/** A button that copies a text. */
import { announce } from './announce.js';
import { frontmost, h } from './dom.js';

const SHOWN_MS = 1500;

/**
 * @param {() => string} text
 * @param {string} what what is copied, for the button's name
 * @param {{ label?: string, class?: string }} [options]
 */
export function copyButton(text, what, { label = 'Copy', class: name = 'copy' } = {}) {
  const button = h('button', { type: 'button', class: name, 'aria-label': `${label} ${what}` }, label);
  button.addEventListener('click', async () => {
    const copied = await copyText(text());
    const outcome = copied ? 'Copied' : 'Not allowed here';
    button.textContent = outcome;
    announce(outcome); // the button keeps its name
    setTimeout(() => {
      button.textContent = label;
    }, SHOWN_MS);
  });
  return button;
}

/**
 * The clipboard is there on https and on this machine only; elsewhere the old way still works.
 * @param {string} text
 */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const { activeElement } = document;
    const area = h('textarea', { class: 'hidden-text' });
    area.value = text;
    frontmost().append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
    return copied;
  }
}
