/** Makes the examples of the documentation work as they stand: they name the address that the page came from. */
import '../ui/tokens.css';
import '../ui/base.css';
import './docs.css';
import { urlOf } from '../ui/base-url.js';

const { base } = /** @type {HTMLElement} */ (document.getElementById('main')).dataset;
const here = urlOf('').replace(/\/$/, '');

for (const sample of document.querySelectorAll('pre')) {
  const text = sample.textContent ?? '';
  if (base !== undefined && text.includes(base)) sample.textContent = text.replace(base, here);
}
