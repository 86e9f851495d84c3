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

/** Whether addresses of a category send coins to many unrelated wallets. */
export function isHubCategory(category: LabelCategory): boolean {
  return category === 'exchange' || category === 'bridge' || category === 'faucet';
}
