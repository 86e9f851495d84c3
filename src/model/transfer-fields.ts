/**
 * The fields of a transfer, once for every face: REST and its CSV, streams and webhooks, Parquet and PostgreSQL, and
 * the documents of all of them. Plain constants: the schemas made from them (src/schemas) need a library that worker
 * threads do not load.
 */

/** The kinds of value; each face has its own form of each. */
export type FieldType =
  /** The id of a transfer. */
  | 'id'
  | 'block'
  /** The position of a transfer within its transaction. */
  | 'position'
  | 'integer'
  | 'hash'
  | 'address'
  | 'kind'
  | 'direction'
  /** An amount in base units. */
  | 'units'
  /** An integer of up to 256 bits. */
  | 'number'
  | 'text'
  | 'time'
  /** True or absent. */
  | 'mark';

/**
 * Where a field appears: `rest` in the lists of an address, `plain` in those of a block or transaction, `transfer` in
 * `wallet_transfers`, `signal` in signals and webhooks.
 */
export type Face = 'rest' | 'plain' | 'transfer' | 'signal';

export interface FieldColumn {
  name: string;
  /** Its place among the columns. Files and tables of users have this order, so it never changes. */
  parquet: number;
  postgres: number;
  /** Values differ from row to row, so a dictionary would only cost time. */
  distinct?: true;
}

export interface TransferField {
  name: string;
  type: FieldType;
  nullable?: true;
  faces: readonly Face[];
  /** Absent for what files and tables have elsewhere. */
  column?: FieldColumn;
  description?: string;
}

const EVERYWHERE = ['rest', 'plain', 'transfer', 'signal'] as const;

export const TRANSFER_FIELDS = [
  {
    name: 'id',
    type: 'id',
    faces: EVERYWHERE,
    column: { name: 'id', parquet: 12, postgres: 1, distinct: true },
    description:
      'Increases along the chain. Use it as a page cursor, not as a key: after a reorg another transfer may ' +
      'get the same id',
  },
  {
    name: 'blockNumber',
    type: 'block',
    faces: EVERYWHERE,
    column: { name: 'block_number', parquet: 1, postgres: 2 },
  },
  {
    name: 'blockHash',
    type: 'hash',
    faces: EVERYWHERE,
    description: 'Across reorgs, part of the key: with txHash and eventIndex it identifies a transfer',
  },
  {
    name: 'txHash',
    type: 'hash',
    faces: EVERYWHERE,
    column: { name: 'tx_hash', parquet: 3, postgres: 4, distinct: true },
  },
  {
    name: 'transferType',
    type: 'kind',
    faces: EVERYWHERE,
    column: { name: 'transfer_type', parquet: 6, postgres: 7 },
  },
  {
    name: 'from',
    type: 'address',
    faces: EVERYWHERE,
    column: { name: 'from_address', parquet: 7, postgres: 8 },
  },
  {
    name: 'to',
    type: 'address',
    faces: EVERYWHERE,
    column: { name: 'to_address', parquet: 8, postgres: 9 },
  },
  {
    name: 'tokenAddress',
    type: 'address',
    nullable: true,
    faces: EVERYWHERE,
    column: { name: 'token_address', parquet: 9, postgres: 10 },
    description: 'Null for native transfers',
  },
  {
    name: 'tokenId',
    type: 'number',
    nullable: true,
    faces: EVERYWHERE,
    column: { name: 'token_id', parquet: 10, postgres: 12 },
    description: 'Decimal token id of an ERC-721 or ERC-1155 transfer, otherwise null',
  },
  { name: 'symbol', type: 'text', nullable: true, faces: EVERYWHERE, description: 'Null while unknown' },
  {
    name: 'decimals',
    type: 'integer',
    nullable: true,
    faces: EVERYWHERE,
    description: 'Null while unknown, and for tokens without decimals',
  },
  {
    name: 'amount',
    type: 'units',
    faces: EVERYWHERE,
    column: { name: 'amount', parquet: 11, postgres: 11, distinct: true },
  },
  { name: 'direction', type: 'direction', faces: ['rest', 'transfer', 'signal'] },
  {
    name: 'timestamp',
    type: 'time',
    faces: EVERYWHERE,
    column: { name: 'block_timestamp', parquet: 2, postgres: 3 },
  },
  {
    name: 'logIndex',
    type: 'integer',
    nullable: true,
    faces: EVERYWHERE,
    column: { name: 'log_index', parquet: 5, postgres: 6 },
    description: 'Null for native transfers; shared by all items of an ERC-1155 batch',
  },
  {
    name: 'eventIndex',
    type: 'position',
    faces: EVERYWHERE,
    column: { name: 'event_index', parquet: 4, postgres: 5 },
  },
  {
    name: 'uncertain',
    type: 'mark',
    faces: EVERYWHERE,
    description:
      'Only in a block of which the node did not give all traces or logs: transfers may be missing, and eventIndex ' +
      'may change when the block is indexed again',
  },
] as const satisfies readonly TransferField[];

type Field = (typeof TRANSFER_FIELDS)[number];

/** The fields of a face. */
export type FieldOf<F extends Face> = Field extends infer T
  ? T extends { faces: readonly (infer On)[] }
    ? F extends On
      ? T
      : never
    : never
  : never;

/** The field that a column holds. */
export type ColumnField = Extract<Field, { column: object }>;

export function fieldsOf<F extends Face>(face: F): FieldOf<F>[] {
  return TRANSFER_FIELDS.filter((field): field is FieldOf<F> => faceOf(field).includes(face));
}

function faceOf({ faces }: TransferField): readonly Face[] {
  return faces;
}

/** The columns in their order in files or tables. */
export function columnsOf(format: 'parquet' | 'postgres'): ColumnField[] {
  return TRANSFER_FIELDS.filter((field): field is ColumnField => 'column' in field).sort(
    (a, b) => a.column[format] - b.column[format],
  );
}
