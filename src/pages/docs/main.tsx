/** The API documentation, rendered by the server: adds the bar, the search, copy icons, and "Try it". */
import '../ui/base.css';
import './docs.css';
import { render } from 'preact';
import { Copy } from '../ui/copy.tsx';
import { Top } from '../ui/frame.tsx';
import { href } from '../ui/router.ts';
import { DocsSearch } from './search.tsx';
import { TryIt } from './try-it.tsx';

const main = document.getElementById('main');
const top = document.getElementById('top');
const search = document.getElementById('search-field');
if (main === null || top === null || search === null) throw new Error('the page is incomplete');

nameThisServer(main);
render(<Top current="/docs" />, top);
render(<DocsSearch />, search);
for (const sample of main.querySelectorAll('pre')) addCopy(sample);
for (const section of main.querySelectorAll<HTMLElement>('section[data-path]')) addTryIt(section);

/** The examples name a local server. Replace it with the page's own server. */
function nameThisServer(main: HTMLElement): void {
  const { base = '' } = main.dataset;
  const here = href('/').replace(/\/$/, '');
  for (const sample of main.querySelectorAll('pre')) {
    const text = sample.textContent ?? '';
    if (text.includes(base)) sample.textContent = text.replace(base, here);
  }
}

function addCopy(sample: HTMLPreElement): void {
  const frame = document.createElement('div');
  frame.className = 'sample with-copy';
  sample.replaceWith(frame);
  const place = document.createElement('span');
  frame.append(sample, place);
  const what = (sample.getAttribute('aria-label') ?? 'sample').toLowerCase();
  render(<Copy text={sample.textContent ?? ''} what={`the ${what}`} />, place);
}

function addTryIt(section: HTMLElement): void {
  const { path = '', method = '' } = section.dataset;
  const place = document.createElement('div');
  section.append(place);
  render(<TryIt path={path} method={method === 'POST' ? 'POST' : 'GET'} />, place);
}
