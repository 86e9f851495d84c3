/** An address, hash or block number as a link, with its label and a copy icon. */
import { Copy } from './copy.tsx';
import { grouped, safeName, shortHex, ZERO_ADDRESS } from './format.ts';
import { Identicon } from './identicon.tsx';
import { addressPath, blockPath, Link, tokenPath, transactionPath } from './link.tsx';

/** The label of an address, as the API returns it beside the address. */
export interface AddressLabel {
  name: string;
  category: string;
  /** The list that contains the label. */
  source: string;
}

/** The label beside an address in an answer: `fromLabel` for `from`. Null if there is none. */
export function labelOf(record: object, field: string): AddressLabel | null {
  const label: unknown = Reflect.get(record, `${field}Label`);
  if (typeof label !== 'object' || label === null) return null;
  if (!('name' in label && 'category' in label && 'source' in label)) return null;
  return { name: String(label.name), category: String(label.category), source: String(label.source) };
}

/** A label's category and source: `exchange, by my list`. */
export function labelText({ category, source }: AddressLabel): string {
  return `${category}, by ${safeName(source, 40)}`;
}

interface AddressProps {
  address: string;
  label?: AddressLabel | null;
  /** Shown in full; otherwise shortened. */
  whole?: boolean;
  /** The address of the page's subject is not a link. */
  here?: boolean;
}

export function Address({ address, label, whole = false, here = false }: AddressProps) {
  const text = whole ? address : shortHex(address);
  const name = label ? safeName(label.name, 24) : address === ZERO_ADDRESS ? 'Zero address' : null;
  const inner = name === null ? <span class="mono">{text}</span> : <bdi class="name">{name}</bdi>;
  const title = label ? `${label.name} (${labelText(label)}): ${address}` : address;
  return (
    <span class="address with-copy" title={title}>
      <Identicon address={address} />
      {here ? <span class="here">{inner}</span> : <Link to={addressPath(address)}>{inner}</Link>}
      <Copy text={address} what="address" />
    </span>
  );
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
