/**
 * What counts as a trade in an index: the version of the classification and the lists of contracts that it asks. An
 * index records them with the first commit that uses them, because stored sums depend on them.
 */
import type { Hex } from '../lib/hex.ts';
import { ADDRESS_PATTERN, mergeAddresses } from './address.ts';
import { FEE_SINKS, NATIVE_EQUIVALENTS, QUOTE_TOKENS } from './known-contracts.ts';

/** The lists, and what their members are. */
const LISTS = {
  nativeEquivalents: 'an equivalent of the native coin',
  quoteTokens: 'a quote token',
  feeSinks: 'a fee sink',
} as const;

type TradeListName = keyof typeof LISTS;
const LIST_NAMES: readonly TradeListName[] = ['nativeEquivalents', 'quoteTokens', 'feeSinks'];

/** Each list in lower case, sorted, without duplicates. */
export interface TradeRules extends Readonly<Record<TradeListName, readonly Hex[]>> {
  /** Of the classification (src/trades). */
  version: number;
}

/** Increases when the same transfers and lists give other trades. */
export const TRADE_RULES_VERSION = 1;

/** The contracts that the configuration adds to the known ones. */
export type ConfiguredTradeLists = Partial<Record<TradeListName, readonly string[]>>;

interface TradeRuleSources {
  chainId: number;
  /** Of the rules of the index (index-rules.ts): whose wrapping it decodes. */
  wrappedNative: readonly Hex[];
  configured: ConfiguredTradeLists;
}

/** The rules by this program and configuration. An equivalent of the native coin is no quote token. */
export function newTradeRules({ chainId, wrappedNative, configured }: TradeRuleSources): TradeRules {
  const nativeEquivalents = mergeAddresses(
    wrappedNative,
    NATIVE_EQUIVALENTS[chainId],
    configured.nativeEquivalents,
  );
  const quoteTokens = mergeAddresses(QUOTE_TOKENS[chainId], configured.quoteTokens);
  return {
    version: TRADE_RULES_VERSION,
    nativeEquivalents,
    quoteTokens: quoteTokens.filter((address) => !nativeEquivalents.includes(address)),
    feeSinks: mergeAddresses(FEE_SINKS, configured.feeSinks),
  };
}

/** The rules as stored, on one line. Equal rules have equal texts. */
export function formatTradeRules(rules: TradeRules): string {
  const lists = LIST_NAMES.map((name) => [name, ...rules[name].map((address) => address.slice(2))].join(' '));
  return [`version ${rules.version}`, ...lists].join(', ');
}

/** The rules of a text by `formatTradeRules`; null for another text. */
export function parseTradeRules(text: string): TradeRules | null {
  const [version = '', ...lists] = text.split(', ').map((part) => part.split(' ').slice(1));
  const [nativeEquivalents = [], quoteTokens = [], feeSinks = []] = lists.map((list) =>
    list.map((digits): Hex => `0x${digits}`),
  );
  const rules = { version: Number(version[0]), nativeEquivalents, quoteTokens, feeSinks };
  const isWhole = Number.isInteger(rules.version) && LIST_NAMES.every((name) => rules[name].every(isAddress));
  return isWhole && formatTradeRules(rules) === text ? rules : null;
}

function isAddress(text: string): boolean {
  return ADDRESS_PATTERN.test(text);
}

/** What `wanted` counts otherwise than `stored`, one line each; empty when nothing. */
export function compareTradeRules(stored: TradeRules, wanted: TradeRules): string[] {
  const changes =
    stored.version === wanted.version ? [] : [`trades are classified by version ${wanted.version}`];
  for (const name of LIST_NAMES) {
    const added = wanted[name].filter((address) => !stored[name].includes(address));
    const dropped = stored[name].filter((address) => !wanted[name].includes(address));
    changes.push(...added.map((address) => `${address} counts as ${LISTS[name]}`));
    changes.push(...dropped.map((address) => `${address} does not count as ${LISTS[name]}`));
  }
  return changes;
}
