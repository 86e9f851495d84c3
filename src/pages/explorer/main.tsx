/** The explorer: browsable pages of everything in the index. */
import '../ui/base.css';
import './search/search.css';
import './explorer.css';
import './drawings.css';
import { render } from 'preact';
import { giveKeyToOpenedTabs, takeKeyFromFragment } from '../client/key.ts';
import { interceptLinks } from '../ui/router.ts';
import { App } from './app.tsx';
import { isExplorerPath } from './routes.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no container for the explorer');
takeKeyFromFragment();
giveKeyToOpenedTabs();
interceptLinks(isExplorerPath);
render(<App />, root);
