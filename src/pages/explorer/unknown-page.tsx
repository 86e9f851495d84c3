/** The page for an unknown path. */
import { Link } from '../ui/link.tsx';
import { useTitle } from '../ui/router.ts';

/** Longest path shown. */
const SHOWN = 120;

export function UnknownPage({ path }: { path: string }) {
  useTitle('Not found');
  return (
    <div class="intro">
      <h1>Page not found</h1>
      <p class="mono break">{path.length > SHOWN ? `${path.slice(0, SHOWN)}…` : path}</p>
      <p class="soft">
        The link may be truncated: an address is 0x and 40 hexadecimal digits, a hash 0x and 64. Search for it
        above, or go to the <Link to="/">home page</Link>.
      </p>
    </div>
  );
}
