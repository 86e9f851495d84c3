/** An address, hash or block number as a link, with its label and a copy icon. */
import { useContext } from 'preact/hooks';
import { AddressNames } from './address-names.ts';
import { Copy } from './copy.tsx';
import { grouped, safeName, shortHex, ZERO_ADDRESS } from './format.ts';
import { Identicon } from './identicon.tsx';
import { type AddressLabel, labelOf } from './known-names.ts';
import { addressPath, blockPath, Link, tokenPath, transactionPath } from './link.tsx';

export { type AddressLabel, labelOf };

/** A label's category and source: `exchange, by my list`. */
export function labelText({ category, source }: AddressLabel): string {
  return `${category}, by ${safeName(source, 40)}`;
}

interface AddressProps {
  address: string;
  label?: AddressLabel | null;
  /** Shown in full; otherwise shortened. */
  whole?: boolean;
  /** The view of the wallet that the link opens. */
  tab?: string;
  /** The address of the page's subject is not a link. */
  here?: boolean;
}

/** By its label, or as a token by its symbol, or by its digits. */
export function Address({ address, label: given, whole = false, tab, here = false }: AddressProps) {
  const known = useContext(AddressNames).get(address.toLowerCase());
  const label = given ?? known?.label;
  const text = whole ? address : shortHex(address);
  const name = label ? safeName(label.name, 24) : nameWithoutLabel(address, known?.symbol ?? '');
  const inner = name === '' ? <span class="mono">{text}</span> : <bdi class="name">{name}</bdi>;
  const title = label ? `${label.name} (${labelText(label)}): ${address}` : address;
  return (
    <span class="address with-copy" title={title}>
      <Identicon address={address} />
      {here ? <span class="here">{inner}</span> : <Link to={addressPath(address, tab)}>{inner}</Link>}
      <Copy text={address} what="address" />
    </span>
  );
}

function nameWithoutLabel(address: string, symbol: string): string {
  return address === ZERO_ADDRESS ? 'Zero address' : safeName(symbol);
}

/** A token by its symbol. The address distinguishes two tokens with the same symbol. */
export function TokenLink({ token, symbol }: { token: string; symbol: string | null }) {
  const name = safeName(symbol ?? '');
  return (
    <span class="token with-copy" title={token}>
      <Link to={tokenPath(token)}>
        {name === '' ? <span class="mono">{shortHex(token)}</span> : <bdi>{name}</bdi>}
      </Link>
      <Copy text={token} what="token address" />
    </span>
  );
}

export function TransactionLink({ hash, whole = false }: { hash: string; whole?: boolean }) {
  return (
    <span class="hash with-copy" title={hash}>
      <Link to={transactionPath(hash)} class="mono">
        {whole ? hash : `${hash.slice(0, 10)}…`}
      </Link>
      <Copy text={hash} what="transaction hash" />
    </span>
  );
}

export function BlockLink({ block }: { block: number }) {
  return (
    <Link to={blockPath(block)} class="nowrap">
      {grouped(block)}
    </Link>
  );
}
