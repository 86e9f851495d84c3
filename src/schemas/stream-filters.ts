/** The schemas of filters, made from their members: they check what clients send and describe it in the documents. */
import * as z from 'zod';
import { ADDRESS_PATTERN } from '../model/address.ts';
import { MARK_PATTERN } from '../model/rewrites.ts';
import {
  BLOCK_PATTERN,
  COINS_PATTERN,
  DIRECTIONS,
  type FilterMember,
  type FilterMembers,
  type FilterType,
  HASH_PATTERN,
  LIST_PREFIX,
  MAX_ADDRESSES,
  NATIVE_QUOTE,
  QUOTE_PATTERN,
  SIGNAL_EVENTS,
  SIGNAL_FILTER,
  type SignalEvent,
  UNITS_PATTERN,
  WALLET_FILTER,
} from '../model/stream-filters.ts';
import { TRADE_KINDS } from '../model/trade-kind.ts';

// Each message continues a sentence that starts with the member's name.
const ADDRESS_RULE = 'must be an address: 0x and 40 hex digits';
const HASH_RULE = 'must be 0x and 64 hex digits';
const BLOCK_RULE = 'must be a block number, or a quantity such as "0x1b4"';
const COINS = { error: 'must be a decimal number of coins, such as "1.5"' };
const UNITS_RULE = 'must be an integer in base units, as a string';
const QUOTE_RULE = `must be ${NATIVE_QUOTE}, or the address of a token: 0x and 40 hex digits`;

export function addressIn() {
  return z.string({ error: ADDRESS_RULE }).regex(ADDRESS_PATTERN, { error: ADDRESS_RULE });
}

function listIn<T extends z.ZodType>(item: T, error: string) {
  return z.array(item, { error }).max(MAX_ADDRESSES, { error: `has more than ${MAX_ADDRESSES} items` });
}

function blockIn() {
  const rule = { error: BLOCK_RULE };
  return z
    .union(
      [z.int(rule).min(0, rule), z.string(rule).regex(BLOCK_PATTERN, rule), z.literal('earliest', rule)],
      rule,
    )
    .describe('A block number, or a quantity such as 0x1b4');
}

export function hashIn() {
  return z.string({ error: HASH_RULE }).regex(HASH_PATTERN, { error: HASH_RULE });
}

function quoteIn() {
  return z.string({ error: QUOTE_RULE }).regex(QUOTE_PATTERN, { error: QUOTE_RULE });
}

function amountsBy<K extends z.ZodString>(key: K, what: string) {
  return z
    .record(key, z.string({ error: UNITS_RULE }).regex(UNITS_PATTERN, { error: UNITS_RULE }), {
      error: `must be an object: ${what} to amount in base units`,
    })
    .meta({ maxProperties: MAX_ADDRESSES });
}

const optional = <T extends z.ZodType>(schema: T) => schema.nullable().optional();

/** The schema of each type of member. Null means absent, because some clients send every member. */
const TYPES = {
  address: () => optional(addressIn()),
  addresses: () => optional(listIn(addressIn(), 'must be an array')),
  wallets: () => {
    const error = 'must be an array of addresses, or "list:<name>"';
    const list = z.string({ error }).regex(new RegExp(`^${LIST_PREFIX}`), { error });
    return optional(z.union([listIn(addressIn(), error), list], { error }));
  },
  events: () =>
    optional(
      listIn(
        z.enum(SIGNAL_EVENTS, { error: `must be among ${SIGNAL_EVENTS.join(', ')}` }),
        'must be an array',
      ),
    ),
  direction: () => optional(z.enum(DIRECTIONS, { error: 'must be in, out or both' })).default('both'),
  flag: ({ byDefault }) =>
    optional(z.boolean({ error: 'must be true or false' })).default(byDefault === true),
  coins: () =>
    optional(z.union([z.string(COINS).regex(COINS_PATTERN, COINS), z.number(COINS).min(0, COINS)], COINS)),
  amounts: () => optional(amountsBy(addressIn(), 'token')),
  kinds: () =>
    optional(
      listIn(z.enum(TRADE_KINDS, { error: `must be among ${TRADE_KINDS.join(', ')}` }), 'must be an array'),
    ),
  quotes: () => optional(amountsBy(quoteIn(), 'quote')),
  block: () => optional(blockIn()),
  lastSeen: () => {
    const error = 'must be {"blockNumber": number, "blockHash": 0x and 64 hex digits}';
    const rewrites = optional(z.string({ error }).regex(MARK_PATTERN, { error }));
    return optional(z.strictObject({ blockNumber: blockIn(), blockHash: hashIn(), rewrites }, { error }));
  },
} as const satisfies { [T in FilterType]: (member: FilterMember) => z.ZodType };

type Shape<M extends FilterMembers> = { [Name in keyof M]: ReturnType<(typeof TYPES)[M[Name]['type']]> };

function shapeOf<M extends FilterMembers>(members: M): Shape<M>;
function shapeOf(members: FilterMembers): object {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [
      name,
      TYPES[member.type](member).describe(descriptionOf(member)),
    ]),
  );
}

/** JSON Schema has no word for the meaning of an empty list. */
function descriptionOf({ type, byDefault, description }: FilterMember): string {
  const isList = ['wallets', 'addresses', 'events', 'kinds'].includes(type);
  return isList && byDefault !== undefined ? `${description}. Empty or absent: ${byDefault}` : description;
}

export const walletFilterSchema = z
  .strictObject(shapeOf(WALLET_FILTER), {
    error: 'wallet_transfers needs an object with the address of the wallet',
  })
  .superRefine(({ address, addresses }, context) => {
    const some = (addresses ?? []).length > 0;
    const both = (address ?? null) !== null && some;
    if (both) context.addIssue('pass either address or addresses, not both');
    else if ((address ?? null) === null && !some) context.addIssue(`address ${ADDRESS_RULE}`);
  })
  // The same in JSON Schema.
  .meta({
    id: 'WalletFilter',
    oneOf: [
      {
        required: ['address'],
        properties: { address: { type: 'string' }, addresses: { maxItems: 0 } },
      },
      {
        required: ['addresses'],
        properties: { address: { type: 'null' }, addresses: { type: 'array', minItems: 1 } },
      },
    ],
  });

const WHALE = 'whale_transfer';
const TRADE = 'wallet_trade';

export const signalFilterSchema = z
  .strictObject(shapeOf(SIGNAL_FILTER), { error: 'the parameters must be an object' })
  .refine(({ events, minMon }) => events?.includes(WHALE) !== true || (minMon ?? null) !== null, {
    error: 'whale_transfer needs minMon, the smallest amount of a whale',
  })
  .superRefine(({ events, kinds, minQuote }, context) => {
    if (events?.includes(TRADE) === true) return;
    const needs = 'needs wallet_trade among the events';
    if ((kinds ?? []).length > 0) context.addIssue(`kinds ${needs}`);
    else if (Object.keys(minQuote ?? {}).length > 0) context.addIssue(`minQuote ${needs}`);
  })
  // The same in JSON Schema.
  .meta({
    id: 'SignalFilter',
    allOf: [
      implies(someEvent(WHALE), { required: ['minMon'], properties: { minMon: { not: { type: 'null' } } } }),
      implies(someMember('kinds', { type: 'array', minItems: 1 }), someEvent(TRADE)),
      implies(someMember('minQuote', { type: 'object', minProperties: 1 }), someEvent(TRADE)),
    ],
  });

type JsonSchema = Record<string, unknown>;

function someMember(name: string, value: JsonSchema): JsonSchema {
  return { required: [name], properties: { [name]: value } };
}

function someEvent(event: SignalEvent): JsonSchema {
  return someMember('events', { type: 'array', contains: { const: event } });
}

function implies(condition: JsonSchema, consequence: JsonSchema): JsonSchema {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: consequence };
}

export type SignalFilter = z.input<typeof signalFilterSchema>;
