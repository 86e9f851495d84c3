/** What is known of addresses: the operator's labels, and what token contracts call themselves. */

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

/** What is known of an address. */
export interface KnownName {
  label: AddressLabel | null;
  /** Of a token, as its contract gives it; null while unknown, and for an address that is none. */
  symbol: string | null;
  decimals: number | null;
  /** Its type, null for an address that is no token. */
  type: string | null;
  /** Null while unknown. */
  contract: boolean | null;
}

export type KnownNames = ReadonlyMap<string, KnownName>;
