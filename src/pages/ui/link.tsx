/** Links within the service, and the paths of the explorer's pages, which match those of other explorers. */
import type { ComponentChildren } from 'preact';
import { href } from './router.ts';

interface LinkProps {
  /** A path of the service, starting with a slash. */
  to: string;
  children: ComponentChildren;
  class?: string;
  title?: string;
  current?: boolean;
}

export function Link({ to, current, ...rest }: LinkProps) {
  return <a href={href(to)} aria-current={current ? 'page' : undefined} {...rest} />;
}

export const addressPath = (address: string, tab?: string) =>
  `/address/${address}${tab === undefined ? '' : `?tab=${tab}`}`;
export const tokenPath = (token: string) => `/token/${token}`;
/** A page of one ERC-721 or ERC-1155 token of a contract. */
export const nftPath = (token: string, id: string) => `/token/${token}?id=${id}`;
export const transactionPath = (hash: string) => `/tx/${hash}`;
export const blockPath = (block: number | string) => `/block/${block}`;
export const searchPath = (text: string) => `/search?q=${encodeURIComponent(text)}`;
