/** What the explorer says of a path that it does not know. */
import { Link } from '../ui/link.tsx';
import { useTitle } from '../ui/router.ts';

/** Longest path that is repeated. */
const SHOWN = 120;

export function UnknownPage({ path }: { path: string }) {
  useTitle('Nothing here');
  return (
    <div class="intro">
      <h1>There is nothing here</h1>
      <p class="mono break">{path.length > SHOWN ? `${path.slice(0, SHOWN)}…` : path}</p>
      <p class="soft">
        The link may be cut short: an address is 0x and 40 hexadecimal digits, a hash 0x and 64. Search for it
        above, or go to the <Link to="/">home page</Link>.
      </p>
    </div>
  );
}
