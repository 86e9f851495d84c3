/** Which page a path shows. */
import type { ComponentChild } from 'preact';
import type { Place } from '../ui/router.ts';
import { HomePage } from './home/home-page.tsx';
import { UnknownPage } from './unknown-page.tsx';
import { WalletPage } from './wallet/wallet-page.tsx';

const ADDRESS = '0x[0-9a-fA-F]{40}';

interface Route {
  pattern: RegExp;
  /** `subject` is what the path's last part names, in lower case. */
  page: (subject: string, place: Place) => ComponentChild;
}

const ROUTES: readonly Route[] = [
  { pattern: /^\/$/, page: () => <HomePage /> },
  {
    pattern: new RegExp(`^/address/(${ADDRESS})$`),
    page: (address, { params }) => <WalletPage key={address} address={address} params={params} />,
  },
];

/** The page of a path, and whether the path is known. */
export function pageAt(place: Place): ComponentChild {
  for (const { pattern, page } of ROUTES) {
    const found = pattern.exec(place.path);
    if (found) return page((found[1] ?? '').toLowerCase(), place);
  }
  return <UnknownPage path={place.path} />;
}

/** Whether the explorer shows a path itself; `/docs` and `/admin` are pages of their own. */
export function isExplorerPath(path: string): boolean {
  return /^\/(?:$|(?:address|token|tx|block)\/|(?:search|tokens|large|live)$)/.test(path);
}
