/** A choice of one among a few, as a row of radio buttons. */
import { h } from './dom.js';

/**
 * @param {string} name of the group
 * @param {Record<string, string>} options text by value
 * @param {string} chosen
 * @param {(value: string) => void} onChoice
 */
export function radioGroup(name, options, chosen, onChoice) {
  const labels = Object.entries(options).map(([value, text]) => {
    const input = h('input', { type: 'radio', name, value, onchange: () => onChoice(value) });
    input.checked = value === chosen;
    return h('label', {}, input, text);
  });
  return h('div', { class: 'choices', role: 'radiogroup', 'aria-label': name }, labels);
}
