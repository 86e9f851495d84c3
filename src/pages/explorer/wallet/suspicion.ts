/**
 * Which transfers look like address poisoning: made to bring a wrong address or a fake token into a wallet's history,
 * from where it may be copied. The rules are in docs/explorer.md. Pure functions.
 */
import type { Transfer } from '../../client/answers.ts';
import { safeName, ZERO_ADDRESS } from '../../ui/format.ts';

/** An address that the wallet had transfers with. */
interface Party {
  address: string;
  /** Coins moved between the two, in both directions. */
  coins: number;
  transfers: number;
  /** The operator's, null without one. */
  name: string | null;
}

/** A token that the wallet holds. */
interface HeldToken {
  tokenAddress: string;
  symbol: string | null;
  /** The wallet's transfers of it. */
  transferCount: number;
}

export interface WalletKnowledge {
  wallet: string;
  parties: readonly Party[];
  held: readonly HeldToken[];
}

export interface Suspicion {
  /** In a few words each. */
  reasons: string[];
  /** Whether the list hides it. Otherwise it is only marked. */
  isHidden: boolean;
}

type Judged = Pick<
  Transfer,
  'from' | 'to' | 'amount' | 'tokenAddress' | 'tokenId' | 'symbol' | 'decimals' | 'txHash'
>;

/** Coins below which a transfer is tiny. Of a token it is one whole unit. */
const TINY_COINS_PER_UNIT = 100n;

/** Digits that two addresses must share: at least so many at each end, and so many in all. */
const LEAST_AT_END = 3;
const LEAST_SHARED = 8;
const PREFIX = 2;

/**
 * What speaks against a transfer; null if nothing does. `initiated`: whether the wallet sent the transaction, null
 * while unknown. What it sent, and what may be its own, is never hidden.
 */
export function suspicionOf(
  transfer: Judged,
  known: WalletKnowledge,
  initiated: boolean | null,
): Suspicion | null {
  const { wallet, held } = known;
  const party = transfer.from === wallet ? transfer.to : transfer.from;
  const isZero = transfer.tokenAddress !== null && transfer.amount === '0';
  const twin = twinOf(party, known);
  const original = imitatedBy(transfer, held);
  const isDisguised = original !== null && isDisguise(transfer.symbol);
  const reasons = [
    isZero && initiated !== true
      ? `moves nothing${initiated === false ? ', not sent by the wallet' : ''}`
      : null,
    lookalikeText(party, known),
    isDisguised ? `imitates ${safeName(original.symbol ?? '')}` : null,
  ].filter((reason) => reason !== null);
  if (reasons.length === 0) return null;
  const isBait = isZero || isTiny(transfer) || original !== null;
  const isFake = twin !== null && !isStronger(party, twin, known) && !isTrusted(party, twin, known);
  const isPoison = isZero || isDisguised || (isFake && isBait);
  return { reasons, isHidden: initiated === false && isPoison };
}

/** That an address looks like one that the wallet knows better; null if it does not. */
export function lookalikeText(address: string, known: WalletKnowledge): string | null {
  const twin = twinOf(address, known);
  if (twin === null || isTrusted(address, twin, known)) return null;
  return `its address looks like ${twinText(twin, known)}`;
}

/** Whether the sender of a transfer's transaction matters for what is said of it. */
export function isCandidate(transfer: Judged, known: WalletKnowledge): boolean {
  return suspicionOf(transfer, known, false)?.isHidden ?? false;
}

/** The wallet, or an address that it had transfers with, that one may take this one for. */
function twinOf(address: string, { wallet, parties }: WalletKnowledge): string | null {
  if (address === wallet || address === ZERO_ADDRESS) return null;
  if (looksLike(address, wallet)) return wallet;
  return parties.find((party) => looksLike(address, party.address))?.address ?? null;
}

/** Whether two different addresses share most of the digits that a short form shows. */
export function looksLike(a: string, b: string): boolean {
  if (a === b || b === ZERO_ADDRESS) return false;
  let first = PREFIX;
  while (first < a.length && a[first] === b[first]) first++;
  let last = 0;
  while (last < a.length && a.at(-1 - last) === b.at(-1 - last)) last++;
  const start = first - PREFIX;
  return start >= LEAST_AT_END && last >= LEAST_AT_END && start + last >= LEAST_SHARED;
}

/** Whether the wallet moved more coins with an address than with the one it looks like: then that one is the fake. */
function isStronger(address: string, twin: string, known: WalletKnowledge): boolean {
  return partyOf(address, known).coins > partyOf(twin, known).coins;
}

/** Fewest transfers with an address that the wallet knows: a fake has its bait, and what was sent to it by mistake. */
const LEAST_KNOWN = 3;

/** Whether an address is well known beside the one it looks like. */
function isTrusted(address: string, twin: string, known: WalletKnowledge): boolean {
  const [own, other] = [partyOf(address, known), partyOf(twin, known)];
  if ((own.name === null) !== (other.name === null)) return own.name !== null;
  return isStronger(address, twin, known) && own.transfers >= Math.max(LEAST_KNOWN, other.transfers);
}

/** What an address is taken for. The digits that the usual short form shows are those of both. */
function twinText(twin: string, known: WalletKnowledge): string {
  if (twin === known.wallet) return 'this wallet';
  const { name } = partyOf(twin, known);
  return name === null ? `another, ${twin.slice(0, 12)}…${twin.slice(-8)}` : `that of ${safeName(name, 40)}`;
}

function partyOf(address: string, { parties }: WalletKnowledge): Party {
  const found = parties.find((party) => party.address === address);
  return found ?? { address, coins: 0, transfers: 0, name: null };
}

function isTiny({ tokenAddress, tokenId, amount, decimals }: Judged): boolean {
  if (tokenId !== null || decimals === null) return false;
  const unit = 10n ** BigInt(decimals);
  return BigInt(amount) * (tokenAddress === null ? TINY_COINS_PER_UNIT : 1n) < unit;
}

/** The held token, moved more often, whose symbol reads like that of a transfer's other token. */
function imitatedBy({ tokenAddress, symbol }: Judged, held: readonly HeldToken[]): HeldToken | null {
  const skeleton = skeletonOf(symbol ?? '');
  if (tokenAddress === null || skeleton === '') return null;
  const own = held.find((token) => token.tokenAddress === tokenAddress)?.transferCount ?? 0;
  const isOriginal = (token: HeldToken) =>
    token.tokenAddress !== tokenAddress &&
    token.symbol !== null &&
    !isDisguise(token.symbol) &&
    skeletonOf(token.symbol) === skeleton &&
    (token.transferCount > own || isDisguise(symbol));
  return held.find(isOriginal) ?? null;
}

/** Whether a symbol has other characters than those of a keyboard. */
function isDisguise(symbol: string | null): boolean {
  return /[^\x20-\x7e]/.test(symbol ?? '');
}

/** Letters of other scripts that look like Latin ones. Currency signs do not: `USD₮` is a symbol of its own. */
const LOOKALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...[
      'аa',
      'вb',
      'еe',
      'ѕs',
      'іi',
      'јj',
      'кk',
      'мm',
      'нh',
      'оo',
      'рp',
      'сc',
      'тt',
      'уy',
      'хx',
      'ԁd',
      'ԛq',
      'ԝw',
    ],
    ...[
      'αa',
      'βb',
      'εe',
      'ηn',
      'ιi',
      'κk',
      'μm',
      'νv',
      'οo',
      'ρp',
      'τt',
      'υu',
      'χx',
      'ζz',
      'ɡg',
      'ⅼl',
      'ӏl',
      'ս' + 'u',
    ],
  ].map((pair) => [[...pair][0], [...pair][1]]),
);

/** What a symbol looks like: without case, accents, invisible characters and spaces, in Latin letters. */
function skeletonOf(symbol: string): string {
  const plain = symbol
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, '');
  return [...plain].map((character) => LOOKALIKES[character] ?? character).join('');
}
