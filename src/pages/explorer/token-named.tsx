/** A token by its name, and the digits of its address, which tell apart those of one name. */
import { Copy } from '../ui/copy.tsx';
import { shortHex } from '../ui/format.ts';
import { Link, tokenPath } from '../ui/link.tsx';
import { tokenName } from './token-name.ts';

interface TokenNamedProps {
  token: { tokenAddress: string; name: string | null; symbol: string | null };
}

export function TokenNamed({ token: { tokenAddress, ...named } }: TokenNamedProps) {
  const text = tokenName(tokenAddress, named);
  return (
    <span class="with-copy token-named" title={tokenAddress}>
      <Link to={tokenPath(tokenAddress)}>
        <bdi>{text}</bdi>
      </Link>
      {text !== shortHex(tokenAddress) && (
        <span class="mono soft token-address">{shortHex(tokenAddress)}</span>
      )}
      <Copy text={tokenAddress} what="token address" />
    </span>
  );
}
