/**
 * What counts as a transfer in an index. An index records the rules that it was made with, and every block of it is
 * decoded by them: otherwise a new release or another configuration would decode earlier blocks differently.
 */
import type { Hex } from '../lib/hex.ts';
import { mergeAddresses } from './address.ts';
import { FIRST_WRAPPED_NATIVE, NATIVE_CONTRACTS, WRAPPED_NATIVE } from './known-contracts.ts';

/** The lists of contracts among the rules, and what their members are. */
const LISTS = {
  wrappedNative: 'wrapped native coin',
  nativeContracts: 'native coin that is also a contract',
  unindexedErc20: 'ERC-20 token that indexes no argument of its transfers',
} as const;

type ListName = keyof typeof LISTS;
const LIST_NAMES: readonly ListName[] = ['wrappedNative', 'nativeContracts', 'unindexedErc20'];

/** Each in lower case, sorted, without duplicates. */
type RuleLists = Readonly<Record<ListName, readonly Hex[]>>;

export interface IndexRules extends RuleLists {
  /** The version of the rules that are not lists; RULES_VERSION for a new index. */
  version: number;
  /** Whether the chain has Monad's system transactions and staking payouts. */
  monad: boolean;
}

/** The rules as stored. Indexes made before rules were stored lack some until a daemon completes them. */
export type StoredRules = Omit<IndexRules, 'monad' | 'wrappedNative'> & {
  monad: boolean | null;
  wrappedNative: IndexRules['wrappedNative'] | null;
};

/** The rules of a new index. */
export const RULES_VERSION = 2;

/** What each version of the rules after the first added. */
const ADDED: Readonly<Record<number, readonly string[]>> = {
  2: [
    'Transfers without an indexed argument count, as those of ERC-721 tokens',
    'the mint of an OP stack deposit counts as a native transfer from the zero address',
    'transactions of one hash in one block count as one transaction',
    'a balance sums the transfers of the kind that its token used first',
  ],
};

/** The contracts that the configuration adds to the known ones. */
export type ConfiguredLists = Partial<Record<ListName, readonly string[]>>;

/** What a new index or one of an earlier release takes its rules from. */
export interface RuleSources {
  chainId: number;
  monad: boolean;
  configured: ConfiguredLists;
}

/** The rules of an index made now. */
export function newRules({ chainId, monad, configured }: RuleSources): IndexRules {
  return {
    version: RULES_VERSION,
    monad,
    wrappedNative: mergeAddresses(WRAPPED_NATIVE[chainId], configured.wrappedNative),
    nativeContracts: mergeAddresses(NATIVE_CONTRACTS[chainId], configured.nativeContracts),
    unindexedErc20: mergeAddresses(configured.unindexedErc20),
  };
}

/**
 * Completes rules of an index made before rules were stored, as the program of that time would have chosen them now: it
 * added the configured wrapped coins to the known ones at each start.
 */
export function completeRules(stored: StoredRules, { chainId, monad, configured }: RuleSources): IndexRules {
  return {
    ...stored,
    monad: stored.monad ?? monad,
    wrappedNative:
      stored.wrappedNative ?? mergeAddresses(FIRST_WRAPPED_NATIVE[chainId], configured.wrappedNative),
  };
}

export function isComplete(rules: StoredRules): rules is IndexRules {
  return rules.monad !== null && rules.wrappedNative !== null;
}

/** The rules of an index beside those of a new one. */
export interface RulesStatus {
  /** Of the index, and of a new one. */
  version: number;
  newest: number;
  /** What a new index with this configuration would count otherwise, one line each; empty when nothing. */
  changes: string[];
  /** Whether some of these changes are in the configuration, not only in the program. */
  isConfigured: boolean;
}

/** Compares the rules of an index with those that a new one would get. */
export function compareRules(made: IndexRules, sources: RuleSources): RulesStatus {
  const wanted = newRules(sources);
  const changes: string[] = [];
  let isConfigured = false;
  for (let version = made.version + 1; version <= RULES_VERSION; version++)
    changes.push(...(ADDED[version] ?? []));
  for (const name of LIST_NAMES) {
    const known = newRules({ ...sources, configured: {} })[name];
    const added = wanted[name].filter((address) => !made[name].includes(address));
    const dropped = made[name].filter((address) => !wanted[name].includes(address));
    changes.push(...added.map((address) => `${address} counts as ${LISTS[name]}`));
    changes.push(...dropped.map((address) => `${address} does not count as ${LISTS[name]}`));
    isConfigured ||= dropped.length > 0 || added.some((address) => !known.includes(address));
  }
  return { version: made.version, newest: RULES_VERSION, changes, isConfigured };
}

/** The rules on one line, to compare two indexes. */
export function rulesText(rules: IndexRules): string {
  const lists = LIST_NAMES.map((name) => `${name} ${rules[name].join(' ') || 'none'}`);
  return [`version ${rules.version}`, rules.monad ? 'Monad' : 'not Monad', ...lists].join(', ');
}
