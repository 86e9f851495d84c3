/** Labels: names that the operator gives to addresses. */

export const LABEL_CATEGORIES = [
  'exchange',
  'bridge',
  'faucet',
  'dex',
  'contract',
  'person',
  'other',
] as const;

export type LabelCategory = (typeof LABEL_CATEGORIES)[number];

export interface Label {
  name: string;
  category: LabelCategory;
  /** Where the label comes from, such as a list's name. */
  source: string;
}

/** The labels by address. */
export interface LabelLookup {
  /** Whether no address has one. */
  readonly isEmpty: boolean;
  /** `address` is in lower case. */
  of(address: string): Label | undefined;
}

/** `<member>Label` for each of these members of a record that holds an address with a label. */
export function labelMembers(
  record: Readonly<Record<string, unknown>>,
  members: readonly string[],
  labels: LabelLookup | undefined,
): Record<string, Label> {
  const found: Record<string, Label> = {};
  if (labels === undefined || labels.isEmpty) return found;
  for (const member of members) {
    const { [member]: address } = record;
    const label = typeof address === 'string' ? labels.of(address) : undefined;
    if (label !== undefined) found[`${member}Label`] = label;
  }
  return found;
}

/** Whether addresses of a category send coins to many unrelated wallets. */
export function isHubCategory(category: LabelCategory): boolean {
  return category === 'exchange' || category === 'bridge' || category === 'faucet';
}
