/** A link to a path of the service; it begins with a slash. */
import type { ComponentChildren } from 'preact';
import { href } from './router.ts';

export interface LinkProps {
  to: string;
  children: ComponentChildren;
  class?: string;
  title?: string;
  current?: boolean;
}

export function Link({ to, current, ...rest }: LinkProps) {
  return <a href={href(to)} aria-current={current ? 'page' : undefined} {...rest} />;
}
