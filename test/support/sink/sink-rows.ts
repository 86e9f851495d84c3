/** The rows that the sink should have written and those that it has, as comparable text. */
import postgres from 'postgres';
import type { ConfiguredTradeLists } from '../../../src/model/trade-rules.ts';
import { TRANSFER_KIND_NAMES, TransferKind } from '../../../src/model/transfer-kind.ts';
import { COLUMNS } from '../../../src/sink/columns.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import { ZERO_WALLET } from '../../../src/store/schema.ts';
import { readBlockTimes, readTransfers } from '../index/index-rows.ts';
import { inChainOrder, plainTradeRows, tradeText } from '../trades/plain-trade-rows.ts';

export interface ExpectedRows {
  /** Default: the first and the last block of the index. */
  first?: number;
  last?: number;
  wallets?: boolean;
  /** The lists of `[trades]`. */
  tradeLists?: ConfiguredTradeLists;
}

type Row = Record<string, unknown>;

/** The expected rows of the sink's tables, computed from the index by plain joins without the sink's own code. */
export function expectedSinkRows(indexPath: string, range: ExpectedRows = {}): string[] {
  const { first = 0, last = Number.MAX_SAFE_INTEGER, wallets = false } = range;
  const db = openDatabase(indexPath, { readonly: true });
  const rows = (sql: string): Row[] => db.prepare<[number, number], Row>(sql).all(first, last);
  try {
    db.exec('BEGIN');
    const located = /* sql */ `
      WITH located AS (SELECT t.*,
        (SELECT min(number) FROM blocks WHERE last_transfer >= t.id) AS block FROM transfers t)`;
    const times = readBlockTimes(db);
    const transfers = readTransfers(db)
      .filter(({ block }) => block >= first && block <= last)
      .map((t) => [
        ...['transfer', t.id, t.block, times.get(t.block), t.hash, t.eventIndex, t.logIndex],
        ...[t.kind, t.from, t.to, t.token, t.amount, t.tokenId],
      ]);
    const blocks = rows(
      'SELECT number, hash, timestamp, last_transfer FROM blocks WHERE number BETWEEN ? AND ? ORDER BY number',
    ).map((row) => ['block', row.number, text(row.hash), row.timestamp, row.last_transfer]);
    const tokens = rows(/* sql */ `${located}
      SELECT k.id, w.address, k.kind, m.name, m.symbol, m.decimals, t.block
      FROM tokens k JOIN wallets w ON w.id = k.wallet JOIN located t ON t.id = k.first_transfer
        LEFT JOIN token_metadata m ON m.address = w.address
      WHERE ? IS NOT NULL AND t.block <= ? ORDER BY k.id`).map((row) => [
      ...['token', row.id, text(row.address), TRANSFER_KIND_NAMES[Number(row.kind)]],
      ...[row.name, row.symbol, row.decimals, row.block],
    ]);
    const firstFunding = (kind: number) => /* sql */ `
      (SELECT min(id) FROM known WHERE receiver = w.id AND kind = ${kind} AND sender NOT IN (w.id, ${ZERO_WALLET}))`;
    const facts = wallets
      ? rows(/* sql */ `${located}, span AS (SELECT ? AS first, ? AS last),
          known AS (SELECT located.* FROM located, span WHERE block <= last),
          facts AS (SELECT w.address, (SELECT min(id) FROM known WHERE w.id IN (sender, receiver)) AS id,
            coalesce(${firstFunding(TransferKind.nativeDirect)},
              ${firstFunding(TransferKind.nativeInternal)}) AS funding
            FROM wallets w)
          SELECT address, f.block, f.id AS first_transfer, funding, g.block AS funded
          FROM facts JOIN span JOIN known f ON f.id = facts.id LEFT JOIN known g ON g.id = funding
          WHERE max(f.block, ifnull(g.block, 0)) >= first ORDER BY address`)
      : [];
    const walletRows = facts.map((row) => [
      ...['wallet', text(row.address), row.block, row.first_transfer, row.funding, row.funded],
    ]);
    const others = [...transfers, ...blocks, ...tokens, ...walletRows];
    const trades = plainTradeRows(indexPath, {
      first: range.first,
      last: range.last,
      lists: range.tradeLists,
    });
    return [...others.map((fields) => fields.map(String).join(' ')), ...trades];
  } finally {
    db.close();
  }
}

/** Every row of the sink's tables. */
export async function storedSinkRows(url: string, schema = 'atlas'): Promise<string[]> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connection: { search_path: schema } });
  try {
    const queries = [
      /* sql */ `SELECT 'transfer', id, block_number, extract(epoch FROM block_timestamp)::bigint AS time,
        '0x' || encode(tx_hash, 'hex') AS hash,
        event_index, log_index, transfer_type, '0x' || encode(from_address, 'hex') AS sender,
        '0x' || encode(to_address, 'hex') AS receiver,
        '0x' || encode(token_address, 'hex') AS token, amount, token_id FROM transfers ORDER BY id`,
      /* sql */ `SELECT 'block', number, '0x' || encode(hash, 'hex') AS hash,
        extract(epoch FROM timestamp)::bigint AS time, last_transfer
        FROM blocks ORDER BY number`,
      /* sql */ `SELECT 'token', id, '0x' || encode(token_address, 'hex') AS address,
        token_type, name, symbol, decimals, first_block
        FROM tokens ORDER BY id`,
      /* sql */ `SELECT 'wallet', '0x' || encode(address, 'hex') AS a,
        first_block, first_transfer, funding_transfer, funding_block
        FROM wallets ORDER BY address`,
    ];
    const lines: string[] = [];
    for (const query of queries)
      for (const row of await sql.unsafe(query)) lines.push(Object.values(row).map(String).join(' '));
    lines.push(...(await storedTrades(sql)));
    return lines;
  } finally {
    await sql.end();
  }
}

async function storedTrades(sql: postgres.Sql): Promise<string[]> {
  const columns = Object.entries(COLUMNS.trades).map(([name, type]) => {
    if (type === 'bytea') return `'0x' || encode(${name}, 'hex') AS ${name}`;
    return name === 'block_timestamp' ? `extract(epoch FROM ${name})::bigint AS ${name}` : name;
  });
  const rows = await sql.unsafe(`SELECT ${columns.join(', ')} FROM trades`);
  return inChainOrder(rows).map(tradeText);
}

function text(value: unknown): string | null {
  return Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : null;
}
