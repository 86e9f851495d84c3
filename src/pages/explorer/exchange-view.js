/** The request behind a view: a line of shell to copy, and the answer as it came. */
import { urlOf } from '../ui/base-url.js';
import { copyButton } from '../ui/copy-button.js';
import { h, replace } from '../ui/dom.js';
import { curlLine } from './curl.js';
import { keyHint } from './stored-key.js';

/** Characters of an answer that are shown. */
const MAX_ANSWER = 20_000;

/**
 * @param {import('./api.js').Exchange} exchange
 * @param {string} key
 */
export function exchangeView({ method, path, body, status, ms, block, answer }, key) {
  const request = { method, url: urlOf(path.slice(1)), body };
  const call = body === null ? path : `${path} ${body}`;
  const json = h('pre', { class: 'json', tabindex: 0 });
  const details = h(
    'details',
    { class: 'exchange' },
    h(
      'summary',
      {},
      h('code', {}, h('b', {}, method), ` ${call}`),
      h(
        'span',
        { class: 'soft nowrap' },
        `${status}, ${Math.max(1, Math.round(ms))} ms${block === null ? '' : `, block ${block}`}`,
      ),
    ),
    h(
      'div',
      { class: 'curl' },
      h('code', {}, curlLine(request, keyHint(key))),
      copyButton(() => curlLine(request, key), 'this request with your key', { class: 'button compact' }),
    ),
    json,
  );
  details.addEventListener('toggle', () => {
    if (details.open) replace(json, answerText(answer));
  });
  return details;
}

/**
 * The answer as it came, except that characters which cannot be seen or turn the text around them stand escaped.
 * @param {unknown} answer
 */
function answerText(answer) {
  const text = JSON.stringify(answer, null, 2).replace(/[^\n\P{C}]|[\p{Zl}\p{Zp}]/gu, (hidden) =>
    Array.from(
      { length: hidden.length },
      (_, i) => `\\u${hidden.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
  if (text.length <= MAX_ANSWER) return text;
  return `${text.slice(0, MAX_ANSWER)}\n… ${text.length - MAX_ANSWER} more characters`;
}
