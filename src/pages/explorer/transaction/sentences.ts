/** What a transaction did, in words: its trades, else its transfers, else its call. Pure. */
import type { Answers, Transfer } from '../../client/answers.ts';
import { safeName, shortAmount, shortHex, shortId, unitsText, ZERO_ADDRESS } from '../../ui/format.ts';
import { type AddressLabel, type KnownNames, labelOf } from '../../ui/known-names.ts';

export type Transaction = Answers['transaction'];
type Trade = NonNullable<Transaction['trades']>[number];
type Leg = Trade['given'][number];

/** A piece of a sentence. */
export type Part =
  | string
  | { kind: 'address'; address: string; label: AddressLabel | null }
  | { kind: 'amount'; units: string; decimals: number | null; symbol: string | null; token: string | null }
  /** `count`: of an ERC-1155 token, which may have several of one number. */
  | { kind: 'nft'; tokenId: string; count: string; symbol: string | null; token: string };

export type Sentence = readonly Part[];

/** Most sentences. The lists below have everything. */
const MAX_SENTENCES = 3;

/** Most calls of a multicall that a sentence names. */
const MAX_CALLS = 5;

/** At least this allowance is meant to have no end. */
const UNLIMITED = 2n ** 159n;

/** `transfers` are the first of its transfers, undefined while they are loaded. */
export function sentencesOf(
  transaction: Transaction,
  transfers: readonly Transfer[] | undefined,
  names: KnownNames,
  coin: string,
): Sentence[] {
  if (transaction.status === 'failed') return [callSentence(transaction, names, 'tried to')];
  if (transaction.status === 'pending') return [pendingSentence(transaction, names, coin)];
  const trades = tradesToTell(transaction, transfers ?? [], names);
  if (trades.length > 0) return trades.slice(0, MAX_SENTENCES).map(tradeSentence);
  if (transfers === undefined) return [];
  const moves = transfers.filter(({ amount }) => amount !== '0');
  const told = moves.slice(0, MAX_SENTENCES).map((transfer) => transferSentence(transfer));
  if (moves.length > MAX_SENTENCES) told.push([`and ${moves.length - MAX_SENTENCES} more, listed below`]);
  if (told.length > 0 && transaction.createdContract === null) return told;
  return [callSentence(transaction, names, ''), ...told];
}

/**
 * Those of its sender; if it has none, those of wallets that are not known as contracts, as pools are. A contract that
 * the sender pays is a seller, whose trade is the sender's purchase for others.
 */
function tradesToTell(
  { trades, from, to, valueWei }: Transaction,
  transfers: readonly Transfer[],
  names: KnownNames,
): Trade[] {
  const all = trades ?? [];
  const own = all.filter(({ wallet }) => wallet === from);
  if (own.length > 0) return own;
  const isPaid = (valueWei ?? '0') !== '0' || transfers.some((one) => one.from === from && one.to === to);
  const others = isPaid ? all.filter(({ wallet }) => wallet !== to) : all;
  const people = others.filter(({ wallet }) => names.get(wallet)?.contract !== true);
  return people.length > 0 ? people : others;
}

function tradeSentence(trade: Trade): Sentence {
  const wallet = addressPart(trade.wallet, labelOf(trade, 'wallet'));
  const [given, received] = [legParts(trade.given), legParts(trade.received)];
  const rest = trade.uncertain ? [' (not certain: transfers of its block are missing)'] : [];
  switch (trade.kind) {
    case 'buy':
      return [wallet, ' bought ', ...received, ' for ', ...given, ...rest];
    case 'sell':
      return [wallet, ' sold ', ...given, ' for ', ...received, ...rest];
    case 'swap':
      return [wallet, ' swapped ', ...given, ' for ', ...received, ...rest];
    case 'mixed':
      return [wallet, ' gave ', ...given, ' and got ', ...received, ...rest];
  }
}

function legParts(legs: readonly Leg[]): Part[] {
  return legs.flatMap((leg, i): Part[] => {
    const { tokenAddress: token, amount, decimals, symbol, tokenIds } = leg;
    const [only, second] = tokenIds ?? [];
    const part: Part =
      token !== null && only !== undefined && second === undefined
        ? { kind: 'nft', tokenId: only, count: amount, symbol, token }
        : { kind: 'amount', units: amount, decimals, symbol, token };
    return i === 0 ? [part] : [i === legs.length - 1 ? ' and ' : ', ', part];
  });
}

function transferSentence(transfer: Transfer): Sentence {
  const { amount, decimals, symbol, tokenId, tokenAddress: token } = transfer;
  const what: Part =
    token !== null && tokenId !== null
      ? { kind: 'nft', tokenId, count: amount, symbol, token }
      : { kind: 'amount', units: amount, decimals, symbol, token };
  const [from, to] = [
    addressPart(transfer.from, labelOf(transfer, 'from')),
    addressPart(transfer.to, labelOf(transfer, 'to')),
  ];
  if (transfer.from === transfer.to) return [from, ' sent itself ', what];
  if (token !== null && transfer.from === ZERO_ADDRESS) return [to, ' got ', what, ', newly minted'];
  if (token !== null && transfer.to === ZERO_ADDRESS) return [from, ' burned ', what];
  const verb = token === null ? ' sent ' : ' transferred ';
  return [from, verb, what, ' to ', to];
}

function pendingSentence(transaction: Transaction, names: KnownNames, coin: string): Sentence {
  const { from, to, valueWei, method } = transaction;
  if (method !== null || to === null || valueWei === null)
    return callSentence(transaction, names, 'is about to');
  const what: Part = { kind: 'amount', units: valueWei, decimals: 18, symbol: coin, token: null };
  return [party(transaction, from, 'from'), ' is about to send ', what, ' to ', party(transaction, to, 'to')];
}

/** `verb`: `tried to`, `is about to`, or empty for what happened. */
function callSentence(transaction: Transaction, names: KnownNames, verb: string): Sentence {
  const { from, to, method, createdContract } = transaction;
  const sender = party(transaction, from, 'from');
  const doing = (present: string, past: string) => (verb === '' ? ` ${past} ` : ` ${verb} ${present} `);
  if (createdContract !== null)
    return [
      sender,
      doing('create', 'created'),
      'the contract ',
      party(transaction, createdContract, 'createdContract'),
    ];
  if (to === null) return [sender, doing('create', 'created'), 'a contract'];
  const receiver = party(transaction, to, 'to');
  if (method === null) return [sender, doing('pay', 'paid'), receiver];
  const allowance = approvalOf(transaction, names);
  if (allowance !== null) return [sender, doing('let', 'let'), ...allowance];
  const within = calledWithin(transaction);
  return [sender, doing('call', 'called'), method.name ?? method.selector, ' of ', receiver, ...within];
}

/** The names of the calls within a multicall, the first few. */
function calledWithin({ calls, callsTruncated }: Transaction): Part[] {
  if (calls === null) return [];
  const names = calls.map(({ method }) => (method === null ? 'a payment' : (method.name ?? method.selector)));
  const isCut = names.length > MAX_CALLS || callsTruncated;
  return [`: ${names.slice(0, MAX_CALLS).join(', ')}${isCut ? ' and more' : ''}`];
}

/** What an `approve` of a token permits; null for any other call. */
function approvalOf({ to, method }: Transaction, names: KnownNames): Part[] | null {
  if (to === null || method?.signature !== 'approve(address,uint256)' || method.args === null) return null;
  const token = names.get(to);
  const [spender, value] = method.args.map((arg) => String(arg.value));
  if (token?.type !== 'erc20' || spender === undefined || value === undefined) return null;
  const who: Part = addressPart(spender, null);
  if (value === '0') return [who, ' spend no more of its ', addressPart(to, null)];
  const what: Part = {
    kind: 'amount',
    units: value,
    decimals: token.decimals,
    symbol: token.symbol,
    token: to,
  };
  return BigInt(value) >= UNLIMITED
    ? [who, ' spend any amount of its ', addressPart(to, null)]
    : [who, ' spend up to ', what];
}

function party(record: object, address: string | null, field: string): Part {
  return address === null ? 'Somebody' : addressPart(address, labelOf(record, field));
}

function addressPart(address: string, label: AddressLabel | null): Part {
  return { kind: 'address', address, label };
}

/** A sentence as plain text, for the title of the browser's tab. */
export function plainText(sentence: Sentence, names: KnownNames): string {
  return sentence.map((part) => partText(part, names)).join('');
}

function partText(part: Part, names: KnownNames): string {
  if (typeof part === 'string') return part;
  if (part.kind === 'address') return safeName(part.label?.name ?? '', 24) || nameIn(names, part.address);
  const symbol = safeName(part.symbol ?? '') || (part.token === null ? '' : shortHex(part.token));
  if (part.kind === 'nft') return `${timesText(part.count)}${symbol} #${shortId(part.tokenId)}`;
  return unitsText(part.units, part.decimals, symbol);
}

/** An address as plain text: by its label, as a token by its symbol, or by its digits. */
export function nameIn(names: KnownNames, address: string): string {
  const known = names.get(address);
  const label = safeName(known?.label?.name ?? '', 24);
  if (label !== '') return label;
  return address === ZERO_ADDRESS ? 'Zero address' : safeName(known?.symbol ?? '') || shortHex(address);
}

/** How many of a token: nothing for one. */
export function timesText(count: string): string {
  return count === '1' ? '' : `${shortAmount(count)} × `;
}
