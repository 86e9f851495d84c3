/** The name of a method or an error. */
import type { Decoded } from './arg-list.tsx';

/** Whoever wrote the contract chose the name, so it is shown with the whole signature. */
export function MethodName({ method: { name, signature, selector, args } }: { method: Decoded }) {
  if (name === null)
    return (
      <>
        <code>{selector}</code> <span class="soft small">no known method</span>
      </>
    );
  return (
    <>
      <b class="break">{name}</b> <code class="soft small break">{signature}</code>
      {args === null && (
        <span class="soft small"> its arguments do not fit the declaration, or are too long</span>
      )}
    </>
  );
}
