/** The title of a page about one subject, with a copyable name. */
import type { ComponentChildren } from 'preact';
import { Copy } from '../ui/copy.tsx';
import { shortHex } from '../ui/format.ts';
import { useTitle } from '../ui/router.ts';

interface PageTitleProps {
  kind: string;
  text: string;
  /** What the copy icon copies, in words. */
  what: string;
  /** Of the browser's tab. Default: the kind and the shortened text. */
  title?: string | undefined;
  children?: ComponentChildren;
}

export function PageTitle({ kind, text, what, title, children }: PageTitleProps) {
  useTitle(title ?? `${kind} ${shortHex(text)}`);
  return (
    <header class="title">
      <p class="soft small">{kind}</p>
      <h1 class="with-copy">
        <span class={text.startsWith('0x') ? 'mono break' : undefined}>{text}</span>
        <Copy text={text} what={what} />
      </h1>
      {children}
    </header>
  );
}
