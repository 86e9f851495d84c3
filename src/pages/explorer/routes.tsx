/** Maps paths to pages. */
import type { ComponentChild } from 'preact';
import type { Place } from '../ui/router.ts';
import { BlockPage } from './block/block-page.tsx';
import { HomePage } from './home/home-page.tsx';
import { LargePage } from './lists/large-page.tsx';
import { LivePage } from './lists/live-page.tsx';
import { TokensPage } from './lists/tokens-page.tsx';
import { SearchPage } from './search/search-page.tsx';
import { TokenPage } from './token/token-page.tsx';
import { TransactionPage } from './transaction/transaction-page.tsx';
import { UnknownPage } from './unknown-page.tsx';
import { WalletPage } from './wallet/wallet-page.tsx';

const ADDRESS = '0x[0-9a-fA-F]{40}';
const HASH = '0x[0-9a-fA-F]{64}';

interface Route {
  pattern: RegExp;
  /** `subject` is the last segment of the path, in lower case. */
  page: (subject: string, params: URLSearchParams) => ComponentChild;
}

const ROUTES: readonly Route[] = [
  { pattern: /^\/$/, page: () => <HomePage /> },
  {
    pattern: new RegExp(`^/address/(${ADDRESS})$`),
    page: (address, params) => <WalletPage key={address} address={address} params={params} />,
  },
  {
    pattern: new RegExp(`^/token/(${ADDRESS})$`),
    page: (token, params) => <TokenPage key={token} token={token} params={params} />,
  },
  { pattern: new RegExp(`^/tx/(${HASH})$`), page: (hash) => <TransactionPage key={hash} hash={hash} /> },
  {
    pattern: new RegExp(`^/block/(${HASH}|[0-9]{1,15})$`),
    page: (block, params) => <BlockPage key={block} block={block} params={params} />,
  },
  { pattern: /^\/search$/, page: (_, params) => <SearchPage text={params.get('q') ?? ''} /> },
  { pattern: /^\/tokens$/, page: () => <TokensPage /> },
  { pattern: /^\/large$/, page: (_, params) => <LargePage params={params} /> },
  { pattern: /^\/live$/, page: (_, params) => <LivePage params={params} /> },
];

/** The page of a path, and whether the path is known. */
export function pageAt(place: Place): ComponentChild {
  for (const { pattern, page } of ROUTES) {
    const found = pattern.exec(place.path);
    if (found) return page((found[1] ?? '').toLowerCase(), place.params);
  }
  return <UnknownPage path={place.path} />;
}

/** Whether the explorer shows a path itself. `/docs` and `/admin` are separate pages. */
export function isExplorerPath(path: string): boolean {
  return /^\/(?:$|(?:address|token|tx|block)\/|(?:search|tokens|large|live)$)/.test(path);
}
