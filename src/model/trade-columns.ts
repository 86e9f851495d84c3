/**
 * The columns of the table `trades`, once for files, PostgreSQL and whatever else shows trades as rows. A row is what a
 * wallet gave and received in one transaction, as GET /api/wallet_trades lists it. Names, symbols and decimals are left
 * out, because they may become known after a row is written.
 */
import type { FieldType } from './transfer-fields.ts';

type TradeColumnType =
  | Extract<FieldType, 'id' | 'block' | 'hash' | 'address' | 'kind' | 'units' | 'number' | 'time'>
  /** A list of legs as JSON text. */
  | 'legs'
  | 'flag';

interface TradeColumnFacts {
  name: string;
  type: TradeColumnType;
  nullable?: true;
  /** Values differ from row to row, so a dictionary would only cost time. */
  distinct?: true;
  description: string;
}

/** In the order of files and tables, which never changes: a new column comes last. */
export const TRADE_COLUMNS = [
  {
    name: 'first_transfer',
    type: 'id',
    distinct: true,
    description:
      'transfers.id of the first transfer of the transaction, of any wallet. With wallet_address it ' +
      'identifies the row, and their order is that of the chain',
  },
  { name: 'block_number', type: 'block', description: 'Number of the block' },
  { name: 'block_hash', type: 'hash', description: 'Hash of the block' },
  { name: 'block_timestamp', type: 'time', description: 'Time of the block' },
  {
    name: 'tx_hash',
    type: 'hash',
    distinct: true,
    description: 'The transaction. With wallet_address it identifies a trade, also in another index',
  },
  { name: 'wallet_address', type: 'address', description: 'Whose trade it is' },
  { name: 'kind', type: 'kind', description: 'buy, sell, swap or mixed' },
  {
    name: 'token_type',
    type: 'kind',
    nullable: true,
    description:
      'native, erc20, erc721 or erc1155: what was bought or sold; of a mixed trade the one asset that is no ' +
      'quote. Null where there is none',
  },
  {
    name: 'token_address',
    type: 'address',
    nullable: true,
    description: 'Null for native, and where token_type is null',
  },
  {
    name: 'token_id',
    type: 'number',
    nullable: true,
    description: 'Of an ERC-1155 token, otherwise null; the ids of ERC-721 tokens are in the legs',
  },
  {
    name: 'token_amount',
    type: 'units',
    nullable: true,
    distinct: true,
    description: 'Base units, ERC-721 in tokens; null for swap and mixed',
  },
  {
    name: 'quote_type',
    type: 'kind',
    nullable: true,
    description: 'native or erc20: what a buy gave and a sell received. Null without a quote: swap and mixed',
  },
  {
    name: 'quote_address',
    type: 'address',
    nullable: true,
    description: 'Null for native, and where quote_type is null',
  },
  {
    name: 'quote_amount',
    type: 'units',
    nullable: true,
    distinct: true,
    description: 'Base units; null for swap and mixed',
  },
  { name: 'given', type: 'legs', distinct: true, description: 'What the wallet gave on balance, by asset' },
  { name: 'received', type: 'legs', distinct: true, description: 'What it received on balance' },
  {
    name: 'fees',
    type: 'legs',
    description: 'What went to EntryPoints and paymasters; below zero what came back. No part of the trade',
  },
  {
    name: 'uncertain',
    type: 'flag',
    description: 'Whether transfers of the block are missing from the index, so that it may be another trade',
  },
] as const satisfies readonly TradeColumnFacts[];

export type TradeColumn = (typeof TRADE_COLUMNS)[number];

/** The value of a column before a format gives it its own form; times in Unix seconds, integers as decimal text. */
interface ValueTypes extends Record<TradeColumnType, unknown> {
  id: number;
  block: number;
  time: number;
  /** `0x` and lower-case digits. */
  hash: string;
  address: string;
  kind: string;
  units: string;
  number: string;
  legs: string;
  flag: boolean;
}

type ValueOf<C extends TradeColumn> = C extends { nullable: true }
  ? ValueTypes[C['type']] | null
  : ValueTypes[C['type']];

export type TradeRow = { [C in TradeColumn as C['name']]: ValueOf<C> };

/** How `token_type` and `quote_type` call the native coin and its equivalents. */
export const NATIVE_TYPE = 'native';
