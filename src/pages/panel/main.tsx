/** The operator's panel. */
import '../ui/base.css';
import './panel.css';
import { render } from 'preact';
import { interceptLinks } from '../ui/router.ts';
import { Panel } from './panel.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no container for the panel');
interceptLinks((path) => path === '/admin');
render(<Panel />, root);
