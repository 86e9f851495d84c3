/** Labels: the operator's names for addresses. */

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
  /** Origin of the label, such as a list's name. */
  source: string;
}

/** The labels by address. */
export interface LabelLookup {
  /** Whether no address has a label. */
  readonly isEmpty: boolean;
  /** `address` is in lower case. */
  of(address: string): Label | undefined;
}

/** The `<field>Label` fields of a record, for those of these address fields that have a label. */
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

/** Whether addresses of this category send coins to many unrelated wallets. */
export function isHubCategory(category: LabelCategory): boolean {
  return category === 'exchange' || category === 'bridge' || category === 'faucet';
}
